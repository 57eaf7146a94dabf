package snowflake

import (
	"testing"
	"time"
)

func TestParseBits(t *testing.T) {
	tests := []struct {
		bits string
		want Layout
		ok   bool
	}{
		{"41,10,12", DefaultLayout(), true},
		{"js53", Layout{DefaultEpoch, 41, 5, 7}, true},
		{" 41, 5 ,7", Layout{DefaultEpoch, 41, 5, 7}, true},
		{"42,0,21", Layout{DefaultEpoch, 42, 0, 21}, true},
		{"41,10,13", Layout{}, false},
		{"0,10,12", Layout{}, false},
		{"41,10,0", Layout{}, false},
		{"41,-1,12", Layout{}, false},
		{"41,10", Layout{}, false},
		{"41,10,12,1", Layout{}, false},
		{"a,b,c", Layout{}, false},
		{"", Layout{}, false},
		{"9223372036854775807,9223372036854775807,3", Layout{}, false},
	}
	for _, tt := range tests {
		got, err := ParseBits(tt.bits, DefaultEpoch)
		if (err == nil) != tt.ok || tt.ok && got != tt.want {
			t.Errorf("ParseBits(%q) = %+v, %v", tt.bits, got, err)
		}
	}
	if _, err := ParseBits("js53", -1); err == nil {
		t.Error("a negative epoch was accepted")
	}
}

func TestDecodeIsTheInverseOfID(t *testing.T) {
	layouts := []Layout{DefaultLayout(), {DefaultEpoch, 41, 5, 7}, {0, 62, 0, 1}, {0, 1, 20, 30}, {DefaultEpoch, 43, 8, 12}}
	for _, l := range layouts {
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		for _, ms := range []int64{l.Epoch, min(l.MaxTime(), l.Epoch+12345), l.MaxTime()} {
			for _, worker := range []int{0, l.MaxWorker()} {
				for _, seq := range []int64{0, l.MaxSequence()} {
					id := l.ID(ms, worker, seq)
					got, err := l.Decode(id)
					if err != nil || id < 0 {
						t.Fatalf("%s: id %d: %v", l.Bits(), id, err)
					}
					if want := (Parts{time.UnixMilli(ms).UTC(), worker, seq}); got != want {
						t.Errorf("%s: %d is %+v, want %+v", l.Bits(), id, got, want)
					}
				}
			}
		}
		if _, err := l.Decode(-1); err == nil {
			t.Errorf("%s: -1 was decoded", l.Bits())
		}
	}
	if _, err := layouts[1].Decode(1 << 53); err == nil {
		t.Error("js53: an id of 2^53 was decoded")
	}
}

func TestJavaScriptSafe(t *testing.T) {
	if DefaultLayout().JavaScriptSafe() {
		t.Error("the default layout has 63 bits")
	}
	js, err := ParseBits("js53", DefaultEpoch)
	if err != nil || !js.JavaScriptSafe() || js.ID(js.MaxTime(), js.MaxWorker(), js.MaxSequence()) >= 1<<53 {
		t.Errorf("js53: %v, %v", js, err)
	}
}
