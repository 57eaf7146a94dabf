package httpd

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

// century bounds durations: what lasts longer needs no number.
const century = 100 * 365 * 24 * time.Hour

// seconds returns a duration, at most a century.
func seconds(s float64) time.Duration {
	if s > century.Seconds() || math.IsNaN(s) {
		return century
	}
	return time.Duration(s * float64(time.Second))
}

func formatters() template.FuncMap {
	return template.FuncMap{"num": groupDigits, "rate": formatRate, "dur": formatDuration, "ago": formatAgo, "utc": formatTime}
}

// groupDigits writes 1234567 as 1,234,567.
func groupDigits(n any) string {
	digits := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func formatRate(r float64) string {
	switch {
	case r == 0:
		return "0"
	case r < 9.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	return groupDigits(int64(math.Round(r)))
}

// formatDuration writes a duration with its largest unit or two; negative ones are nothing.
func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return ""
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	case d < 2*365*day:
		return fmt.Sprintf("%d days", d/day)
	case d < century:
		return fmt.Sprintf("%d years", d/(365*day))
	}
	return "over 100 years"
}

func formatAgo(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := time.Since(t)
	if d < time.Second {
		return "now"
	}
	return formatDuration(d) + " ago"
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
