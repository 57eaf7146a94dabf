package windowstest_test

import (
	"testing"
	"time"

	"redleaf/snowflake"
	"redleaf/snowflake/windowstest"
)

func TestMemory(t *testing.T) {
	windowstest.Run(t, func(*testing.T) windowstest.Handles {
		m := snowflake.NewMemWindows(func() int64 { return time.Now().UnixMilli() })
		return func() snowflake.Windows { return m }
	})
}
