package bloom

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
)

// SaveFile writes a snapshot to a file that only its owner can read. The file
// is replaced as a whole: after a crash at any moment it holds either the
// previous snapshot or this one, on disk.
func (g *Guard) SaveFile(path string) (err error) {
	// CreateTemp makes files of mode 0600, and a rename keeps it.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = g.WriteTo(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in dir last. Windows has no such thing for
// directories.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// LoadFile is [Guard.Load] from a file.
func (g *Guard) LoadFile(ctx context.Context, path string, since func(Snapshot) iter.Seq2[string, error]) (Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return Snapshot{}, err
	}
	defer f.Close()
	return g.Load(ctx, f, since)
}
