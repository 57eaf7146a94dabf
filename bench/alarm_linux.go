package bench

import (
	"cmp"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An alarm wakes a goroutine at a time, within some ten microseconds. Go's own timers wake an idle program up to a
// millisecond late, which would count as latency; a sleep in the kernel would keep a processor from other goroutines.
type alarm struct{ file *os.File }

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{os.NewFile(uintptr(fd), "timerfd")}, nil
}

// wait returns after d.
func (a *alarm) wait(d time.Duration) error {
	raw, err := a.file.SyscallConn()
	if err != nil {
		return err
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(d)))} // 0 would switch it off
	var setErr error
	err = raw.Control(func(fd uintptr) { setErr = unix.TimerfdSettime(int(fd), 0, &spec, nil) })
	if err = cmp.Or(err, os.NewSyscallError("timerfd_settime", setErr)); err != nil {
		return err
	}
	var expirations [8]byte
	_, err = a.file.Read(expirations[:])
	return err
}

func (a *alarm) close() { _ = a.file.Close() }
