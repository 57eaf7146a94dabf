// Command suite measures redleaf beside a real Redis and writes what it finds into bench/RESULTS.md, with plots.
//
// It starts every server itself, on free ports of 127.0.0.1 and with new data, and ends them. Whatever is measured by
// redleaf-bench is measured by running that program, so that the commands in the results are the ones that were run.
package main
