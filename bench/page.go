package bench

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageHTML string

// WriteHTML writes a page with a table and both plots. It needs nothing else: the plots are in it.
func WriteHTML(out io.Writer, title string, series []Series) error {
	page, err := template.New("page").Funcs(template.FuncMap{"rounded": Rounded, "micros": Micros, "ns": Nanoseconds}).Parse(pageHTML)
	if err != nil {
		return err
	}
	latency, err := LatencySVG(series)
	if err != nil {
		return err
	}
	throughput, err := ThroughputSVG(series)
	if err != nil {
		return err
	}
	return page.Execute(out, struct {
		Title  string
		Series []Series
		Plots  []template.HTML
	}{title, series, []template.HTML{drawing(latency), drawing(throughput)}})
}

// drawing makes an SVG file part of a page, without its XML declaration.
func drawing(svg []byte) template.HTML {
	i := max(0, bytes.Index(svg, []byte("<svg")))
	return template.HTML(svg[i:])
}
