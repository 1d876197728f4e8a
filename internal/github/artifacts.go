package github

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"

	gh "github.com/google/go-github/v62/github"
)

// File is a regular file of an artifact.
type File struct {
	Artifact string // the artifact's name
	Name     string // the file's path in it: slashes, no dots, printable ASCII
	Data     []byte
}

// Limits bound what Artifacts reads; a field that is 0 has the default.
type Limits struct {
	Artifacts    int   // artifacts that match; 100
	ArchiveBytes int64 // of one zip archive, packed; 4 MiB
	Files        int   // in one archive; 100
	FileBytes    int64 // of one file, unpacked; 4 MiB
	TotalBytes   int64 // of all files of all archives, unpacked; 64 MiB
}

func (l Limits) orDefaults() Limits {
	return Limits{
		Artifacts:    cmp.Or(l.Artifacts, 100),
		ArchiveBytes: cmp.Or(l.ArchiveBytes, 4<<20),
		Files:        cmp.Or(l.Files, 100),
		FileBytes:    cmp.Or(l.FileBytes, 4<<20),
		TotalBytes:   cmp.Or(l.TotalBytes, 64<<20),
	}
}

const maxArtifactPages = 20

// Artifacts returns the files of the artifacts of a run whose names match
// accepts, ordered by artifact name and file name: of artifacts of one name
// the newest, expired ones left out. They are read in memory and are as
// untrusted as the run's code; what breaks a limit or is no plain file is an
// error that names the artifact.
func (c *Client) Artifacts(ctx context.Context, repo Repo, runID int64, match func(name string) bool, limits Limits) ([]File, error) {
	ctx, cancel := context.WithTimeout(ctx, methodTimeout)
	defer cancel()
	if err := repo.check(); err != nil {
		return nil, err
	}
	limits = limits.orDefaults()
	newest := map[string]*gh.Artifact{}
	todo := action{fmt.Sprintf("list the artifacts of run %d of %s", runID, repo), "actions: read"}
	err := eachPage(maxArtifactPages, func(page gh.ListOptions) (*gh.Response, error) {
		list, resp, err := c.api.Actions.ListWorkflowRunArtifacts(ctx, repo.Owner, repo.Name, runID, &page)
		if err != nil {
			return resp, err
		}
		for _, a := range list.Artifacts {
			if a.GetExpired() || !match(a.GetName()) {
				continue
			}
			if have := newest[a.GetName()]; have == nil || olderArtifact(have, a) {
				newest[a.GetName()] = a
			}
		}
		return resp, nil
	})
	if err != nil {
		return nil, c.explain(todo, err)
	}
	if len(newest) > limits.Artifacts {
		return nil, c.explain(todo, &answerError{text: fmt.Sprintf("%d match, more than %d", len(newest), limits.Artifacts)})
	}

	var files []File
	left := limits.TotalBytes
	for _, a := range slices.SortedFunc(maps.Values(newest), func(a, b *gh.Artifact) int { return cmp.Compare(a.GetName(), b.GetName()) }) {
		todo := action{fmt.Sprintf("read the artifact %q of run %d of %s", clean(a.GetName()), runID, repo), "actions: read"}
		if size := a.GetSizeInBytes(); size < 0 || size > limits.ArchiveBytes {
			return nil, c.explain(todo, &answerError{text: fmt.Sprintf("it has %d bytes, more than %d", size, limits.ArchiveBytes)})
		}
		data, err := c.download(ctx, repo, a.GetID(), limits.ArchiveBytes)
		if err != nil {
			return nil, c.explain(todo, err)
		}
		entries, err := readZip(data, limits, left)
		if err != nil {
			return nil, c.explain(todo, &answerError{text: err.Error()})
		}
		for _, f := range entries {
			f.Artifact = a.GetName()
			left -= int64(len(f.Data))
			files = append(files, f)
		}
	}
	return files, nil
}

func olderArtifact(a, b *gh.Artifact) bool {
	return cmp.Or(a.GetCreatedAt().Compare(b.GetCreatedAt().Time), cmp.Compare(a.GetID(), b.GetID())) < 0
}

// download reads an artifact's archive: the API answers with a signed URL of
// another server, which must not see the token.
func (c *Client) download(ctx context.Context, repo Repo, id, limit int64) ([]byte, error) {
	at, resp, err := c.api.Actions.DownloadArtifact(ctx, repo.Owner, repo.Name, id, 1)
	if err != nil {
		if resp != nil && resp.Response != nil {
			if err := gh.CheckResponse(resp.Response); err != nil {
				return nil, err
			}
			return nil, &answerError{text: fmt.Sprintf("GitHub answered %d and no address to download it from", resp.StatusCode)}
		}
		return nil, err
	}
	if at.Host == "" || at.Scheme != "https" && at.Scheme != c.api.BaseURL.Scheme {
		return nil, &answerError{text: "GitHub answered with no address to download it from"}
	}
	store := &http.Client{
		CheckRedirect: onlyReads,
		Transport: &retry{
			next:  &exchange{base: c.options.Transport, timeout: attemptTimeout, limit: limit},
			sleep: c.options.Sleep,
		},
	}
	return fetch(ctx, store, at)
}

func fetch(ctx context.Context, from *http.Client, at *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, &answerError{text: "GitHub answered with no address to download it from"}
	}
	resp, err := from.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &answerError{
			text: fmt.Sprintf("the store of artifacts answered %d", resp.StatusCode), hint: "run the job again",
		}
	}
	return io.ReadAll(resp.Body)
}
