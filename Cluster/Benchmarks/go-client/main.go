// The peer of cluster-bench: go-dqlite's driver of database/sql, at the same nodes.
//
//	go-client DATABASE NODE[=RELAY]…
//
// A line of stdin is a command, which is answered by one line:
//
//	KIND COUNT      runs an operation COUNT times; answers with the nanoseconds of each
//	writers N COUNT N goroutines write COUNT rows each; answers with the nanoseconds of the whole, and of each write
//	start N         N goroutines write until "stop", and begin again after errors; answers after 100 writes
//	stop            ends them; answers with the nanoseconds of the longest time between two acknowledged writes
package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/canonical/go-dqlite/client"
	"github.com/canonical/go-dqlite/driver"
)

const (
	lookupSQL = "SELECT id, name, score FROM player WHERE id = ?"
	rowsSQL   = "SELECT id, name, score FROM player LIMIT 1000"
	updateSQL = "UPDATE player SET score = score + 1 WHERE id = ?"
)

type bench struct {
	db *sql.DB
	// One connection, for writers: the nodes refuse a second writer at once.
	writerDB *sql.DB
	lookup   *sql.Stmt
	rows     *sql.Stmt
	update   *sql.Stmt

	mutex   sync.Mutex
	stop    chan struct{}
	writers sync.WaitGroup
	acked   int
	last    time.Time
	longest time.Duration
}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: go-client DATABASE NODE[=RELAY]…"))
	}
	bench, err := open(os.Args[1], os.Args[2:])
	if err != nil {
		fail(err)
	}
	output := bufio.NewWriter(os.Stdout)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		values, err := bench.run(strings.Fields(input.Text()))
		if err != nil {
			fail(fmt.Errorf("%s: %w", input.Text(), err))
		}
		for _, value := range values {
			fmt.Fprintf(output, "%d ", value.Nanoseconds())
		}
		fmt.Fprintln(output)
		output.Flush()
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "go-client:", err)
	os.Exit(1)
}

func open(database string, nodes []string) (*bench, error) {
	relays := map[string]string{}
	store := client.NewInmemNodeStore()
	var infos []client.NodeInfo
	for _, node := range nodes {
		parts := strings.SplitN(node, "=", 2)
		infos = append(infos, client.NodeInfo{Address: parts[0]})
		if len(parts) == 2 {
			relays[parts[0]] = parts[1]
		}
	}
	if err := store.Set(context.Background(), infos); err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		if relay, ok := relays[address]; ok {
			address = relay
		}
		dialer := net.Dialer{}
		return dialer.DialContext(ctx, "tcp", address)
	}
	d, err := driver.New(store, driver.WithDialFunc(dial))
	if err != nil {
		return nil, err
	}
	sql.Register("dqlite", d)
	b := &bench{}
	if b.db, err = sql.Open("dqlite", database); err != nil {
		return nil, err
	}
	if b.writerDB, err = sql.Open("dqlite", database); err != nil {
		return nil, err
	}
	b.writerDB.SetMaxOpenConns(1)
	for text, statement := range map[string]**sql.Stmt{lookupSQL: &b.lookup, rowsSQL: &b.rows, updateSQL: &b.update} {
		if *statement, err = b.db.Prepare(text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *bench) run(words []string) ([]time.Duration, error) {
	numbers := make([]int, 0, 2)
	for _, word := range words[1:] {
		number, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	switch words[0] {
	case "lookup":
		return repeated(numbers[0], func(n int) error { return scan(b.lookup, n+1) })
	case "lookups":
		return repeated(numbers[0], b.tenLookups)
	case "rows":
		return repeated(numbers[0], func(int) error { return b.thousandRows() })
	case "statement":
		return repeated(numbers[0], func(n int) error { _, err := b.update.Exec(n + 1); return err })
	case "write":
		return repeated(numbers[0], func(n int) error { return b.write(n, 1) })
	case "writes":
		return repeated(numbers[0], func(n int) error { return b.write(n, 10) })
	case "writers":
		return b.concurrent(numbers[0], numbers[1])
	case "start":
		return b.start(numbers[0])
	case "stop":
		return b.end()
	}
	return nil, fmt.Errorf("no such command")
}

func repeated(count int, body func(int) error) ([]time.Duration, error) {
	times := make([]time.Duration, 0, count)
	for n := 0; n < count; n++ {
		start := time.Now()
		if err := body(n); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

func scan(statement *sql.Stmt, id int) error {
	var key, score int64
	var name string
	return statement.QueryRow(id).Scan(&key, &name, &score)
}

func (b *bench) tenLookups(number int) error {
	tx, err := b.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statement := tx.Stmt(b.lookup)
	for id := 1; id <= 10; id++ {
		if err := scan(statement, number+id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (b *bench) thousandRows() error {
	rows, err := b.rows.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		var key, score int64
		var name string
		if err := rows.Scan(&key, &name, &score); err != nil {
			return err
		}
		count++
	}
	if count != 1000 {
		return fmt.Errorf("%d rows", count)
	}
	return rows.Err()
}

func (b *bench) write(number, rowCount int) error {
	tx, err := b.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statement := tx.Stmt(b.update)
	for id := 1; id <= rowCount; id++ {
		if _, err := statement.Exec(number + id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// One statement a write: the driver's shortest way.
func (b *bench) concurrent(writerCount, count int) ([]time.Duration, error) {
	statement, err := b.writerDB.Prepare(updateSQL)
	if err != nil {
		return nil, err
	}
	defer statement.Close()
	times := make([][]time.Duration, writerCount)
	errors := make([]error, writerCount)
	var group sync.WaitGroup
	start := time.Now()
	for writer := 0; writer < writerCount; writer++ {
		group.Add(1)
		go func(writer int) {
			defer group.Done()
			times[writer], errors[writer] = repeated(count, func(int) error {
				_, err := statement.Exec(writer + 1)
				return err
			})
		}(writer)
	}
	group.Wait()
	result := []time.Duration{time.Since(start)}
	for writer := range times {
		if errors[writer] != nil {
			return nil, errors[writer]
		}
		result = append(result, times[writer]...)
	}
	return result, nil
}

func (b *bench) start(writerCount int) ([]time.Duration, error) {
	b.stop = make(chan struct{})
	b.acked, b.longest, b.last = 0, 0, time.Now()
	for writer := 0; writer < writerCount; writer++ {
		b.writers.Add(1)
		go func(writer int) {
			defer b.writers.Done()
			for {
				select {
				case <-b.stop:
					return
				default:
				}
				if _, err := b.writerDB.Exec(updateSQL, writer+1); err == nil {
					b.note()
				}
			}
		}(writer)
	}
	b.wait(100)
	b.mutex.Lock()
	b.longest = 0
	b.mutex.Unlock()
	return nil, nil
}

// Ends after twenty more writes, so that the gap is over.
func (b *bench) end() ([]time.Duration, error) {
	b.mutex.Lock()
	count := b.acked + 20
	b.mutex.Unlock()
	b.wait(count)
	close(b.stop)
	b.writers.Wait()
	return []time.Duration{b.longest}, nil
}

func (b *bench) note() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now := time.Now()
	if gap := now.Sub(b.last); gap > b.longest {
		b.longest = gap
	}
	b.acked, b.last = b.acked+1, now
}

func (b *bench) wait(count int) {
	for {
		b.mutex.Lock()
		acked := b.acked
		b.mutex.Unlock()
		if acked >= count {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
