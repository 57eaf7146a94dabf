package sqlstore

import "strings"

// query numbers the prepared statements.
type query int

const (
	qLease       query = iota // n, tag x2, largest max_id it may start from
	qLookup                   // tag x2
	qFits                     // tag x2
	qListFirst                // limit
	qListAfter                // tag, limit
	qCount                    //
	qInsert                   // tag, max_id, step
	qStartAtMark              // tag, tag x2
	qMark                     // tag
	qFirst                    //
	qAdvance                  // max_id, tag x2, max_id
	qConfigure                // step, description, tag x2
	qLock                     // tag x2
	qRetire                   // tag, max_id
	qDelete                   // tag x2
	qGiveBack                 // next, tag x2, end
	qNow                      // from here on, not about tags: see Store.pool
	qWorkers                  // lo, hi
	qSwap                     // token, owner, addr, until_ms, worker_id, old token
	qClaim                    // worker_id, token, owner, addr, until_ms
	qPutMeta                  // name, value
	qGetMeta                  // name
	qStrictTags               //
	qStrictTag                // tag
	qHold                     // holder, addr, tag, beat
	qRenewHolds               // holder
	qConfirm                  // id, addr, change_no, now
	qUnconfirmed              // now, change_no, now, age, now, now, age
	qWithdraw                 // id
	qBeat                     // from here on, on whatever server answers: see Store.pool; id, addr, http_addr, version, now, age, now
	qPrune                    // now, age
	qPruneStrict              // now, age
	qNodes                    // now, now, age
	qDigest                   // now, age, now, age
	qLeave                    // id
	numQueries
)

// phrases are where the databases' SQL differs.
type phrases struct {
	key       string // a tag, bound, as the column compares it
	exact     string // whether biz_tag is the tag, bound, byte for byte
	fits      string // whether the column's character set holds a tag, bound twice
	newMaxID  string // max_id moved up by n, bound; a row written by hand below 1 counts as 1
	leased    string // clause that returns the new max_id
	updated   string // update_time in Unix seconds
	forUpdate string // clause that locks the row that is read
	upsert    string // clause, for a table with primary key {key}, before what to set where the row exists
	incoming  string // a refused insert's value: prefix of the column name
	closing   string // closes incoming
	greatest  string // the function
	integer   string // the type, in CAST
	now       string // the clock in Unix milliseconds
	digest    string // of all nodes' rows, with bound now and age up to which they live; a store with a clock of its own makes it itself
}

// queries returns the statements. A tag is bound twice where it is compared: the first comparison is the column's own,
// so that the primary key serves it, and the second is byte for byte.
func (p phrases) queries() [numQueries]string {
	tag := "biz_tag = " + p.key + " AND " + p.exact
	// A row with the column's default, '', is no tag, and would start a paging anew. Some collations say of invisible
	// characters that they equal ''.
	named := " AND OCTET_LENGTH(biz_tag) > 0"
	first := "(SELECT CAST(m.value AS " + p.integer + ") FROM leaf_meta m WHERE m.name = '" + metaFirst + "')"
	row := "SELECT biz_tag, max_id, step, description, " + p.updated
	// The database's clock, or the one that is bound where the store has its own: so it costs no statement of its own.
	now := "COALESCE(?, " + p.now + ")"
	strict := "SELECT biz_tag, is_strict, change_no, beat, holder, addr FROM leaf_strict"
	in := func(column string) string { return p.incoming + column + p.closing }
	return [numQueries]string{
		qLease: "UPDATE leaf_alloc SET max_id = " + p.newMaxID + ", update_time = CURRENT_TIMESTAMP WHERE " + tag +
			" AND max_id <= ?" + p.leased,
		qLookup:    row + ", " + p.exact + " FROM leaf_alloc WHERE biz_tag = " + p.key,
		qFits:      "SELECT " + p.fits,
		qListFirst: row + " FROM leaf_alloc WHERE 1 = 1" + named + " ORDER BY biz_tag LIMIT ?",
		qListAfter: row + " FROM leaf_alloc WHERE biz_tag > " + p.key + named + " ORDER BY biz_tag LIMIT ?",
		qCount:     "SELECT COUNT(*) FROM leaf_alloc",
		qInsert:    "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES (?, ?, ?)",
		qStartAtMark: "UPDATE leaf_alloc SET max_id = " + p.greatest +
			"(max_id, COALESCE((SELECT r.max_id FROM leaf_retired r WHERE r.biz_tag = ?), 1), COALESCE(" + first + ", 1)) WHERE " + tag,
		qFirst:   "SELECT " + first,
		qMark:    "SELECT max_id FROM leaf_retired WHERE biz_tag = ?" + p.forUpdate,
		qAdvance: "UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP WHERE " + tag + " AND max_id <= ?",
		qConfigure: "UPDATE leaf_alloc SET step = COALESCE(?, step), description = COALESCE(?, description), " +
			"update_time = CURRENT_TIMESTAMP WHERE " + tag,
		qLock: "SELECT max_id FROM leaf_alloc WHERE " + tag + p.forUpdate,
		qRetire: "INSERT INTO leaf_retired (biz_tag, max_id) VALUES (?, ?) " + p.on("biz_tag") +
			" max_id = " + p.greatest + "(leaf_retired.max_id, " + in("max_id") + "), retired_at = CURRENT_TIMESTAMP",
		qDelete:   "DELETE FROM leaf_alloc WHERE " + tag,
		qGiveBack: "UPDATE leaf_alloc SET max_id = ?, update_time = CURRENT_TIMESTAMP WHERE " + tag + " AND max_id = ?",
		qNow:      "SELECT " + p.now,
		qWorkers: "SELECT worker_id, token, owner, addr, until_ms FROM leaf_worker " +
			"WHERE worker_id BETWEEN ? AND ? ORDER BY worker_id",
		qSwap:       "UPDATE leaf_worker SET token = ?, owner = ?, addr = ?, until_ms = ? WHERE worker_id = ? AND token = ?",
		qClaim:      "INSERT INTO leaf_worker (worker_id, token, owner, addr, until_ms) VALUES (?, ?, ?, ?, ?)",
		qPutMeta:    "INSERT INTO leaf_meta (name, value) VALUES (?, ?) " + p.on("name") + " value = leaf_meta.value",
		qGetMeta:    "SELECT value FROM leaf_meta WHERE name = ?",
		qStrictTags: strict,
		qStrictTag:  strict + " WHERE biz_tag = ?",
		qHold:       "UPDATE leaf_strict SET holder = ?, addr = ?, beat = beat + 1 WHERE biz_tag = ? AND beat = ?",
		qRenewHolds: "UPDATE leaf_strict SET beat = beat + 1 WHERE holder = ?",
		qConfirm: "INSERT INTO leaf_strict_node (id, addr, change_no, seen_ms) VALUES (?, ?, ?, " + now + ") " + p.on("id") +
			" addr = " + in("addr") + ", change_no = " + in("change_no") + ", seen_ms = " + in("seen_ms"),
		qUnconfirmed: "SELECT id, addr, " + now + " - seen_ms FROM leaf_strict_node WHERE change_no < ? AND seen_ms >= " + now + " - ? " +
			"UNION ALL SELECT n.id, n.addr, " + now + " - n.seen_ms FROM leaf_node n WHERE n.seen_ms >= " + now + " - ? " +
			"AND NOT EXISTS (SELECT 1 FROM leaf_strict_node s WHERE s.id = n.id) ORDER BY 1",
		qWithdraw: "DELETE FROM leaf_strict_node WHERE id = ?",
		qBeat: "INSERT INTO leaf_node (id, addr, http_addr, version, started_ms, seen_ms) VALUES (?, ?, ?, ?, " + now + " - ?, " + now + ") " +
			p.on("id") + " addr = " + in("addr") + ", http_addr = " + in("http_addr") +
			", version = " + in("version") + ", seen_ms = " + in("seen_ms"),
		qPrune:       "DELETE FROM leaf_node WHERE seen_ms < " + now + " - ?",
		qPruneStrict: "DELETE FROM leaf_strict_node WHERE seen_ms < " + now + " - ? AND id NOT IN (SELECT n.id FROM leaf_node n)",
		qNodes:       "SELECT id, addr, http_addr, version, started_ms, seen_ms, " + now + " FROM leaf_node WHERE seen_ms >= " + now + " - ?",
		qDigest:      "SELECT COUNT(*), " + p.digest + " FROM leaf_node WHERE seen_ms >= " + now + " - ?",
		qLeave:       "DELETE FROM leaf_node WHERE id = ?",
	}
}

// on is the upsert clause for a table with the given primary key.
func (p phrases) on(key string) string { return strings.ReplaceAll(p.upsert, "{key}", key) }
