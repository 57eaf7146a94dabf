// Package snowflake draws 64-bit time-ordered ids from windows of milliseconds leased per worker id.
package snowflake
