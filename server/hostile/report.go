package main

import (
	"fmt"
	"runtime"
	"strings"
)

func writeIntroduction(report *strings.Builder) {
	fmt.Fprintf(report, `# Hostile clients

`+"`make hostile`"+` starts the binary (with its defaults, over SQLite), attacks it over loopback as told below, and writes this page. All the
while a good client draws ids one by one, about %d times a second; it fails the run when an id does not follow the last. The
attackers share the machine with the server: %d processors, %s. So they slow the good client down by what they use
of the processors themselves, too. Its quiet values are those of the two seconds before each attack.

`, int64(1e9)/int64(pace*2), runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH)
}

// conclude looks at what is left of the server after all attacks.
func conclude(v *victim, good *goodClient, report *strings.Builder) error {
	panics, err := v.info("connection_panics")
	if err != nil {
		return fmt.Errorf("after all attacks: %w", err)
	}
	if panics != "0" {
		return fmt.Errorf("%s connections ended by a panic:\n%s", panics, v.Log())
	}
	if err := good.undisturbed(); err != nil {
		return err
	}
	memory := v.usage().now()
	drawn := good.stop()
	if err := v.Stop(); err != nil {
		return err
	}
	fmt.Fprintf(report, "## After all of it\n\nThe process is the one that was started; its memory is %s (what large replies took is given back to\nthe system a minute or so later); no connection ended by a panic. The good client drew the\n"+
		"ids 1 to %d without a gap. Asked to stop, the server stopped with status 0.\n", mb(memory), drawn)
	return nil
}
