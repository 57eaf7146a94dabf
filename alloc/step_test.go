package alloc

import (
	"testing"
	"time"
)

func TestStepRule(t *testing.T) {
	rule := stepRule{cap: 1_000_000, target: 15 * time.Minute}
	tests := []struct {
		name      string
		prev, row int64
		lasted    time.Duration
		waited    bool
		want      int64
	}{
		{"the first refill takes the row's step", 0, 1000, 0, false, 1000},
		{"used up quickly: double", 1000, 1000, time.Minute, false, 2000},
		{"used up just in time: keep", 4000, 1000, 15 * time.Minute, false, 4000},
		{"at the upper bound: keep", 4000, 1000, 30 * time.Minute, false, 4000},
		{"lasted long: halve", 4000, 1000, 31 * time.Minute, false, 2000},
		{"never below the row's step", 1500, 1000, time.Hour, false, 1000},
		{"the cap is reached exactly", 600_000, 1000, time.Second, false, 1_000_000},
		{"and kept", 1_000_000, 1000, time.Second, false, 1_000_000},
		{"callers waited: eightfold", 1000, 1000, time.Hour, true, 8000},
		{"eightfold up to the cap", 300_000, 1000, time.Second, true, 1_000_000},
		{"a raised row step counts at once", 2000, 50_000, 20 * time.Minute, false, 50_000},
		{"a row step above the cap has its way", 0, 5_000_000, 0, false, 5_000_000},
		{"and does not grow", 5_000_000, 5_000_000, time.Second, true, 5_000_000},
		{"the largest row step does not overflow", MaxStep, MaxStep, time.Second, true, MaxStep},
		{"a step of 1 can grow", 1, 1, time.Second, false, 2},
		{"a step of 1 can't shrink", 1, 1, time.Hour, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := rule.next(tt.prev, tt.row, tt.lasted, tt.waited); got != tt.want {
				t.Errorf("next(%d, %d, %v, %v) = %d, want %d", tt.prev, tt.row, tt.lasted, tt.waited, got, tt.want)
			}
		})
	}
}

func TestPauseIsBoundedAndJittered(t *testing.T) {
	seen := map[time.Duration]bool{}
	for failures := 1; failures < 100; failures++ {
		d := pause(failures)
		if d < minPause/2 || d > maxPause {
			t.Fatalf("pause(%d) = %v, want %v to %v", failures, d, minPause/2, maxPause)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("only %d different pauses in 99", len(seen))
	}
}
