package casefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoFiles says that a directory holds no case files.
var ErrNoFiles = errors.New("no case files (*" + Extension + ") below it")

// Extension ends the name of a case file.
const Extension = ".cases"

// Find gives the case files that the arguments name: files as they are, and those below directories, in order.
func Find(arguments []string) ([]string, error) {
	var files []string
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, argument)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(argument, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && filepath.Ext(path) == Extension {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: %w", argument, ErrNoFiles)
		}
	}
	return files, nil
}
