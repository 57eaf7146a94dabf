// Package httpd serves ids over HTTP on Leaf's paths, a dashboard for people, metrics for Prometheus, and health. Who may
// do what is decided by the users of the Redis port.
package httpd
