package sqlstore

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// fixedParams are those that the store sets itself, whatever the URL says. "": no value of the URL's is the store's.
func fixedParams() map[string]string {
	return map[string]string{
		"allowAllFiles": "false", "autocommit": "1", "charset": "utf8mb4", "checkConnLiveness": "true",
		"clientFoundRows": "true", "collation": "", "columnsWithAlias": "false", "completion_type": "0",
		"innodb_lock_wait_timeout": "", "interpolateParams": "false", "loc": "", "max_statement_time": "",
		"multiStatements": "false", "parseTime": "false", "sql_mode": "",
		"sql_safe_updates": "0", "sql_select_limit": "", "transaction_isolation": "", "transaction_read_only": "0",
		"tx_isolation": "", "tx_read_only": "0", "wait_timeout": "",
	}
}

// mysqlConfig returns the driver's configuration for the target. The errors do not have the password.
func mysqlConfig(t target, opts Options) (*mysql.Config, error) {
	params, err := ownParams(t.params, opts.Logger)
	if err != nil {
		return nil, err
	}
	network, addr := "tcp", t.host
	if t.socket != "" {
		network, addr = "unix", t.socket
	}
	// The driver reads its parameters only from a DSN of its own, and the server's name for TLS from the address there.
	c, err := mysql.ParseDSN(network + "(" + addr + ")/?" + params.Encode())
	if err != nil {
		return nil, fmt.Errorf("the URL's parameters: %w", err)
	}
	c.Net, c.Addr, c.DBName = network, addr, t.database
	c.User, c.Passwd = t.user, t.password
	if opts.Password != "" {
		c.Passwd = opts.Password
	}
	c.ClientFoundRows = true // rows that match, not rows that change, tell a missing row from an unchanged one
	c.CheckConnLiveness = true
	// After a failover behind one address, connections to the old server, now read-only, must not be used again.
	c.RejectReadOnly = true
	c.Logger = driverLog{opts.Logger}
	if err := c.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, err
	}
	return c, nil
}

// ownParams drops the parameters that are fixed, and says so where the URL wanted something else.
func ownParams(given url.Values, log *slog.Logger) (url.Values, error) {
	fixed := fixedParams()
	own := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given.Get(name)
		if name == "strict" { // the driver panics
			return nil, errors.New("the URL's parameter strict is not supported: the store always uses strict mode")
		}
		if want, ok := fixed[name]; ok {
			if want == "" || !strings.EqualFold(strings.Trim(value, `'"`), want) {
				log.Warn("the store URL's parameter is ignored: the store sets its own", "parameter", name)
			}
			continue
		}
		own.Set(name, value)
	}
	return own, nil
}

// driverLog takes what the driver logs beside the errors it returns.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Print(v ...any) {
	l.log.Debug("MySQL driver: " + strings.TrimSpace(fmt.Sprint(v...)))
}
