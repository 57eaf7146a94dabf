package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints the version, and what it was built with.
func (versionCmd) Run(to *streams) error {
	info, _ := debug.ReadBuildInfo()
	_, err := fmt.Fprintf(to.out, "redleaf %s %s\n", version(), info.GoVersion)
	return err
}

// version is the module's version as the build recorded it: a tag, or a date and a commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
