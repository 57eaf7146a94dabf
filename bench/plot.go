package bench

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a plot in an SVG.
const (
	plotWidth  = 8 * vg.Inch
	plotHeight = 4 * vg.Inch
)

// A Series is results that belong together in a plot: a line of throughput by depth.
type Series struct {
	Name    string
	Results []Result
}

// LatencySVG draws latency by percentile, a line for each result.
func LatencySVG(series []Series) ([]byte, error) {
	p, err := latencyPlot(series)
	if err != nil {
		return nil, err
	}
	return svg(p)
}

// ThroughputSVG draws ids per second by depth, a line for each series.
func ThroughputSVG(series []Series) ([]byte, error) {
	p, err := throughputPlot(series)
	if err != nil {
		return nil, err
	}
	return svg(p)
}

// BothSVG draws both, one below the other.
func BothSVG(series []Series) ([]byte, error) {
	latency, err := latencyPlot(series)
	if err != nil {
		return nil, err
	}
	throughput, err := throughputPlot(series)
	if err != nil {
		return nil, err
	}
	return svg(latency, throughput)
}

// svg draws plots below each other. The text stays text: no font is needed but the reader's.
func svg(plots ...*plot.Plot) ([]byte, error) {
	canvas := vgsvg.New(plotWidth, plotHeight*vg.Length(len(plots)))
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadTop: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(30), PadY: vg.Points(12)}
	for i, p := range plots {
		p.Draw(tiles.At(draw.New(canvas), 0, i))
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// latencyPlot spreads the percentiles so that each further nine takes as much room.
func latencyPlot(series []Series) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Latency by percentile"
	p.X.Label.Text, p.Y.Label.Text = "percentile", "latency"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(percentTicks())
	p.Y.Tick.Marker = decades(Micros)
	p.X.Min, p.X.Max = 1, 10
	lines := 0
	for _, s := range series {
		for _, r := range s.Results {
			points := spread(r.Latency.Percentiles)
			if len(points) == 0 {
				continue
			}
			if err := addLine(p, lines, resultName(s, r), points, false); err != nil {
				return nil, err
			}
			lines++
		}
	}
	p.Y.Max *= math.Pow(10, 0.15*float64(lines)) // room for the legend
	return p, decorate(p, lines)
}

// resultName tells a series' results apart by their depth.
func resultName(s Series, r Result) string {
	if len(s.Results) == 1 {
		return s.Name
	}
	return fmt.Sprintf("%s, depth %d", s.Name, r.Depth)
}

// spread puts 90 % at 10, 99 % at 100, and so on. 100 % has no place.
func spread(percentiles []Point) plotter.XYs {
	var points plotter.XYs
	for _, pt := range percentiles {
		if pt.Percent < 100 {
			points = append(points, plotter.XY{X: 100 / (100 - pt.Percent), Y: max(pt.Micros, 0.1)})
		}
	}
	return points
}

// percentTicks names 0 %, 90 %, 99 % up to nine nines.
func percentTicks() []plot.Tick {
	ticks := []plot.Tick{{Value: 1, Label: "0 %"}, {Value: 2, Label: "50 %"}}
	for nines := 1; nines < 10; nines++ {
		percent := 100 - 100*math.Pow10(-nines)
		ticks = append(ticks, plot.Tick{Value: math.Pow10(nines), Label: strconv.FormatFloat(percent, 'f', max(0, nines-2), 64) + " %"})
	}
	return ticks
}

func throughputPlot(series []Series) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Throughput by pipeline depth"
	p.X.Label.Text, p.Y.Label.Text = "depth", "ids per second"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = decades(Rounded)
	var depths []int
	lines := 0
	for _, s := range series {
		points := byDepth(s.Results)
		for _, pt := range points {
			depths = append(depths, int(pt.X))
		}
		if len(points) == 0 {
			continue
		}
		if err := addLine(p, lines, s.Name, points, true); err != nil {
			return nil, err
		}
		lines++
	}
	p.X.Tick.Marker = depthTicks(depths)
	// A single depth has no width of its own.
	p.X.Max = max(p.X.Max, p.X.Min*2)
	p.Y.Min, p.Y.Max = math.Pow10(int(math.Floor(math.Log10(p.Y.Min)))), math.Pow10(int(math.Ceil(math.Log10(p.Y.Max))))
	return p, decorate(p, lines)
}

func byDepth(results []Result) plotter.XYs {
	var points plotter.XYs
	for _, r := range results {
		if r.IDsPerSecond > 0 {
			points = append(points, plotter.XY{X: float64(r.Depth), Y: r.IDsPerSecond})
		}
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return int(a.X - b.X) })
	return points
}

func depthTicks(depths []int) plot.ConstantTicks {
	slices.Sort(depths)
	var ticks plot.ConstantTicks
	for _, d := range slices.Compact(depths) {
		ticks = append(ticks, plot.Tick{Value: float64(d), Label: strconv.Itoa(d)})
	}
	return ticks
}

// decades marks powers of ten and, without a name, what is between them.
func decades(name func(float64) string) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick {
		var ticks []plot.Tick
		for v := math.Pow10(int(math.Floor(math.Log10(lo)))); v <= hi*1.01; v *= 10 {
			// Without the zeros that stand for precision: 10 ms, not 10.0 ms.
			ticks = append(ticks, plot.Tick{Value: v, Label: strings.Replace(strings.Replace(name(v), ".00", "", 1), ".0", "", 1)})
			for i := 2.0; i < 10; i++ {
				ticks = append(ticks, plot.Tick{Value: v * i})
			}
		}
		return ticks
	}
}

// addLine adds the plot's line number n.
func addLine(p *plot.Plot, n int, name string, points plotter.XYs, dots bool) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = plotutil.SoftColors[n%len(plotutil.SoftColors)], vg.Points(1.5)
	line.Dashes = plotutil.Dashes(n / len(plotutil.SoftColors))
	p.Add(line)
	p.Legend.Add(name, line)
	if dots {
		marks, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		marks.Color, marks.Shape = line.Color, draw.CircleGlyph{}
		p.Add(marks)
	}
	return nil
}

// decorate adds what lines share. A plot of nothing can't be drawn.
func decorate(p *plot.Plot, lines int) error {
	if lines == 0 {
		return fmt.Errorf("nothing to draw: %s", p.Title.Text)
	}
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(2)
	return nil
}
