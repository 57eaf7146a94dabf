package torture

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mutant is a known bug: an edit of one file.
type mutant struct {
	name, file, old, new string
}

func mutants() []mutant {
	return []mutant{
		{
			"worker rows written without compare-and-set", "alloc/sqlstore/windows.go",
			"	if err == nil && n == 0 {\n		return snowflake.ErrSwapped\n	}\n	return err\n",
			"	if err == nil && n == 0 {\n		_, err = s.side.ExecContext(ctx, \"UPDATE leaf_worker SET token = ?, until_ms = ? WHERE worker_id = ?\", w.Token, w.Until, w.ID)\n	}\n	return err\n",
		},
		{
			"worker ids claimed before their windows have passed", "snowflake/claim.go",
			"		if w.Until < now {\n			free",
			"		if w.Until < now+1500 {\n			w.Until = min(w.Until, now-1)\n			free",
		},
		{
			"a range granted by two statements", "alloc/sqlstore/lease.go",
			"		end, rows, err := s.dialect.lease(ctx, s.stmts[qLease], n, tag, tag, math.MaxInt64-n)\n",
			"		read, err := s.lookup(ctx, tag)\n		end, rows := read.MaxID+n, int64(0)\n		if err == nil {\n			rows, err = s.exec(ctx, qAdvance, end, tag, tag, int64(math.MaxInt64))\n		}\n",
		},
		{
			"a lost reply taken for a grant", "alloc/sqlstore/lease.go",
			"		case err != nil:\n			return alloc.Range{}, err\n",
			"		case err != nil:\n			row, lookErr := s.lookup(context.WithoutCancel(ctx), tag)\n			return alloc.Range{First: row.MaxID - n, End: row.MaxID}, lookErr\n",
		},
		{
			"ids given back whoever leased since", "alloc/sqlstore/queries.go",
			"\"UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP WHERE \" + tag + \" AND max_id = ?\"",
			"\"UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP WHERE \" + tag + \" AND max_id >= ?\"",
		},
		{
			"a window released to where it began, though used", "snowflake/close.go",
			"k.row(l.row.ID, used)", "k.row(l.row.ID, min(used, l.from))",
		},
		{
			"a node that trusts its wall clock as its window", "snowflake/generator.go",
			"return w.from < ts && ts <= w.until }", "return w.from < ts }",
		},
	}
}

// mutantTime is how long faults are injected into a mutant.
const mutantTime = 3 * time.Minute

// Known bugs, injected one at a time, make the bench fail: it can.
func TestMutants(t *testing.T) {
	if flag.Lookup("torture.mutants").Value.String() != "true" {
		t.Skip("runs with -torture.mutants only: it takes minutes")
	}
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			module := t.TempDir()
			if err := os.CopyFS(module, sources{os.DirFS(root)}); err != nil {
				t.Fatal(err)
			}
			m.apply(t, module)
			w := newWorld(t, build(t, module), flags().seed)
			w.play(mutantTime)
			failures := w.report.failures()
			if len(failures) == 0 {
				t.Errorf("the bench does not notice\n%s", w.report.table())
				return
			}
			t.Logf("after %v: %s", time.Since(w.report.begun).Round(time.Second), failures[0])
		})
	}
}

// apply edits the copy of the module.
func (m mutant) apply(t *testing.T, module string) {
	t.Helper()
	file := filepath.Join(module, m.file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), m.old) != 1 {
		t.Fatalf("%s has not once: %s", m.file, m.old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sources are the files that building needs.
type sources struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (s sources) ReadDir(name string) (kept []fs.DirEntry, err error) {
	all, err := fs.ReadDir(s.FS, name)
	for _, e := range all {
		hidden := strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" || e.Name() == "clienttest"
		if !hidden && (e.IsDir() || e.Type().IsRegular()) {
			kept = append(kept, e)
		}
	}
	return kept, err
}
