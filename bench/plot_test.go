package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// series are two results each of two targets.
func testSeries() []Series {
	l := Latency{P50: 10, Percentiles: []Point{{0, 5}, {50, 10}, {99, 90}, {99.9, 1200}, {100, 3000}}}
	return []Series{
		{Name: "A <&>", Results: []Result{{Depth: 128, IDsPerSecond: 2e6, Latency: l}, {Depth: 1, IDsPerSecond: 9e4, Latency: l, ServerCPU: &CPU{}}}},
		{Name: "B", Results: []Result{{Depth: 1, IDsPerSecond: 8e4, Latency: l}}},
	}
}

func TestPlots(t *testing.T) {
	for name, draw := range map[string]func([]Series) ([]byte, error){"latency": LatencySVG, "throughput": ThroughputSVG, "both": BothSVG} {
		svg, err := draw(testSeries())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s is not XML: %v", name, err)
			}
		}
		if !bytes.Contains(svg, []byte("A &lt;&amp;&gt;")) {
			t.Errorf("%s has no legend", name)
		}
		if _, err := draw(nil); err == nil {
			t.Errorf("%s of nothing passes", name)
		}
	}
}

func TestPage(t *testing.T) {
	var page strings.Builder
	if err := WriteHTML(&page, "a & b", testSeries()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>a &amp; b</h1>", "<td>2.00 M", "A &lt;&amp;&gt;", "</svg>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{"src=", "href=", "@import", "url(", "<script"} {
		if strings.Contains(page.String(), not) {
			t.Errorf("the page needs something else: %s", not)
		}
	}
	if n := strings.Count(page.String(), "<svg"); n != 2 {
		t.Errorf("%d plots", n)
	}
}
