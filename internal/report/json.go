package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the report as the JSON that Report documents, indented, with a
// newline at its end.
func JSON(w io.Writer, r Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
