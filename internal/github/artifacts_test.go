package github

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
)

const runID = 77

// archive builds a zip archive; each entry may be changed before it is written.
func archive(tb testing.TB, entries ...entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if e.header != nil {
			e.header(h)
		}
		f, err := w.CreateHeader(h)
		if err == nil && e.content != "" {
			_, err = f.Write([]byte(e.content))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

type entry struct {
	name, content string
	header        func(*zip.FileHeader)
}

// raw builds an archive of one stored file whose header can claim anything.
func raw(tb testing.TB, content string, claim func(*zip.FileHeader)) []byte {
	tb.Helper()
	h := &zip.FileHeader{
		Name: "result.txt", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(content)),
		CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content)),
	}
	claim(h)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateRaw(h)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func artifact(name string, data []byte) githubtest.Artifact {
	return githubtest.Artifact{RunID: runID, Name: name, Data: data}
}

func oneFile(tb testing.TB, content string) []byte {
	return archive(tb, entry{name: "result.txt", content: content})
}

func anyName(string) bool { return true }

func TestArtifacts(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		day := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
		// Three pages, and the newest of one name neither first nor last.
		for i, made := range []time.Duration{1, 3, 2} {
			a := artifact("gate-ubuntu-1", oneFile(t, fmt.Sprint("upload ", made)))
			a.Created = day.Add(made * time.Hour)
			s.AddArtifact(a)
			for j := range 100 {
				s.AddArtifact(artifact(fmt.Sprintf("other-%d-%d", i, j), nil))
			}
		}
		s.AddArtifact(artifact("gate-macos-1", archive(t, entry{name: "b/c.txt", content: "c"}, entry{name: "a.txt", content: "a"}, entry{name: "z"})))
		expired := artifact("gate-arm-1", oneFile(t, "expired"))
		expired.Expired = true
		s.AddArtifact(expired)
		other := artifact("gate-other-1", oneFile(t, "of another run"))
		other.RunID++
		s.AddArtifact(other)

		got, err := c.Artifacts(t.Context(), octo, runID, func(name string) bool { return strings.HasPrefix(name, "gate-") }, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := []File{
			{"gate-macos-1", "a.txt", []byte("a")},
			{"gate-macos-1", "b/c.txt", []byte("c")},
			{"gate-macos-1", "z", []byte{}},
			{"gate-ubuntu-1", "result.txt", []byte("upload 3ns")},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("files (-want +got):\n%s", d)
		}
		if none, err := c.Artifacts(t.Context(), octo, 1, anyName, Limits{}); len(none) != 0 || err != nil {
			t.Errorf("of a run without artifacts: %v, %v", none, err)
		}
	})
}

func TestArtifactsErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*testing.T, *githubtest.Server)
		limits Limits
		want   string
	}{
		{"no permission", func(t *testing.T, s *githubtest.Server) {
			s.Fail(githubtest.Failure{Path: "/artifacts", Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
		}, Limits{}, `cannot list the artifacts of run 77 of octo/hello: GitHub answered 403 (Resource not accessible by integration): give the job "permissions: actions: read"`},
		{"too large as listed", func(t *testing.T, s *githubtest.Server) {
			a := artifact("big", nil)
			a.Size = 4<<20 + 1
			s.AddArtifact(a)
		}, Limits{}, `cannot read the artifact "big" of run 77 of octo/hello: it has 4194305 bytes, more than 4194304`},
		{"larger than listed", func(t *testing.T, s *githubtest.Server) {
			a := artifact("liar", oneFile(t, "x"))
			a.Size = 1
			s.AddArtifact(a)
		}, Limits{ArchiveBytes: 100}, `the answer has more than 100 bytes`},
		{"too many", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("one", oneFile(t, "x")))
			s.AddArtifact(artifact("two", oneFile(t, "x")))
		}, Limits{Artifacts: 1}, "2 match, more than 1"},
		{"too much in all", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("one", oneFile(t, "12345")))
			s.AddArtifact(artifact("two", oneFile(t, "12345")))
		}, Limits{TotalBytes: 9}, `the artifact "two" of run 77 of octo/hello: its file "result.txt": it is larger than the 4 bytes`},
		{"no archive", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("text", []byte("no archive")))
		}, Limits{}, "it is no zip archive"},
		{"hostile name", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a\n::error::b", []byte("x")))
		}, Limits{}, `the artifact "a ::error::b" of run 77`},
		{"gone", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a", oneFile(t, "x")))
			s.Fail(githubtest.Failure{Path: "/zip", Status: 410, Body: `{"message":"Artifact has expired"}`})
		}, Limits{}, "GitHub answered 410 (Artifact has expired): it is no longer there"},
		{"no address", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a", oneFile(t, "x")))
			s.Fail(githubtest.Failure{Path: "/zip", Status: 302})
		}, Limits{}, "no address to download it from"},
		{"another kind of address", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a", oneFile(t, "x")))
			s.Fail(githubtest.Failure{Path: "/zip", Status: 302, Header: map[string]string{"Location": "http://store.test/?sig=Signature"}})
		}, Limits{}, "no address to download it from"},
		{"store refuses", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a", oneFile(t, "x")))
			s.Fail(githubtest.Failure{Path: "/_store", Status: 403})
		}, Limits{}, "the store of artifacts answered 403: run the job again"},
		{"store sends us on", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a", oneFile(t, "x")))
			s.Fail(githubtest.Failure{Path: "/_store", Status: 302, Header: map[string]string{"Location": "http://plain.test/_store/?sig=Signature"}})
		}, Limits{}, "redirected from https to http"},
		{"store breaks off", func(t *testing.T, s *githubtest.Server) {
			s.AddArtifact(artifact("a", oneFile(t, "x")))
			s.Fail(githubtest.Failure{Path: "/_store", Cut: true})
		}, Limits{}, "the answer was cut short"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				tt.change(t, s)
				_, err := c.Artifacts(t.Context(), octo, runID, anyName, tt.limits)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error %v\nwant %q in it", err, tt.want)
				}
				for _, secret := range []string{githubtest.Token, "Signature", "\n"} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("error %q has %q in it", err, secret)
					}
				}
			})
		})
	}
}

func TestArtifactsRecover(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		s.AddArtifact(artifact("a", oneFile(t, "x")))
		s.Fail(githubtest.Failure{Path: "/runs/", Cut: true, Times: 1})
		s.Fail(githubtest.Failure{Path: "/zip", Status: 502, Times: 1})
		s.Fail(githubtest.Failure{Path: "/_store", Status: http.StatusServiceUnavailable, Times: 1})
		s.Fail(githubtest.Failure{Path: "/_store", Cut: true, Times: 1})
		files, err := c.Artifacts(t.Context(), octo, runID, anyName, Limits{})
		if err != nil || len(files) != 1 || string(files[0].Data) != "x" {
			t.Errorf("%v, %v", files, err)
		}
	})
}

// hostile archives, and what is said of them.
func hostile(tb testing.TB) map[string][]byte {
	named := func(name string) []byte { return archive(tb, entry{name: name, content: "x"}) }
	moded := func(mode fs.FileMode) []byte {
		return archive(tb, entry{"link", "/etc/passwd", func(h *zip.FileHeader) { h.SetMode(mode) }})
	}
	var many []entry
	for i := range 6 {
		many = append(many, entry{name: fmt.Sprint(i)})
	}
	return map[string][]byte{
		`"/etc/passwd": that is no plain relative path`: named("/etc/passwd"),
		`"../x": that is no plain`:                      named("../x"),
		`"a/../../x": that is no plain`:                 named("a/../../x"),
		`"a//b": that is no plain`:                      named("a//b"),
		`"./a": that is no plain`:                       named("./a"),
		`"": that is no plain`:                          named(""),
		`"a/": that is no plain`:                        archive(tb, entry{name: "a/"}),
		`"a\\..\\..\\x": only printable ASCII`:          named(`a\..\..\x`),
		`"C:x": only printable`:                         named("C:x"),
		`"a b": only printable`:                         named("a\nb"),
		`"é": only printable`:                           named("é"),
		`...": that is no plain`:                        named(strings.Repeat("a", 256)),
		"is no regular file":                            moded(fs.ModeSymlink | 0o777),
		`"link" in it is no`:                            moded(fs.ModeNamedPipe | 0o644),
		`"A.TXT" twice`:                                 archive(tb, entry{name: "a.txt"}, entry{name: "A.TXT"}),
		"it has 6 files, more than 5":                   archive(tb, many...),
		"larger than the 1000 bytes":                    archive(tb, entry{name: "bomb", content: strings.Repeat("0", 1001)}),
		"its file \"b\": it is larger than the 600":     archive(tb, entry{name: "a", content: strings.Repeat("0", 900)}, entry{name: "b", content: strings.Repeat("0", 601)}),
		"is encrypted":                                  raw(tb, "x", func(h *zip.FileHeader) { h.Flags |= encrypted }),
		"it cannot be unpacked: zip: checksum error":    raw(tb, "x", func(h *zip.FileHeader) { h.CRC32++ }),
		"it cannot be unpacked: zip: not a valid": raw(tb, deflated(tb, 1<<20), func(h *zip.FileHeader) {
			h.Method, h.UncompressedSize64 = zip.Deflate, 10
		}),
		"it cannot be unpacked: unexpected EOF":    raw(tb, "x", func(h *zip.FileHeader) { h.UncompressedSize64 = 900 }),
		"unsupported compression algorithm":        raw(tb, "x", func(h *zip.FileHeader) { h.Method = 99 }),
		"it is no zip archive: zip: not a valid":   named("cut")[:40],
		"it is larger than the 1000 bytes that ma": raw(tb, "x", func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }),
	}
}

// deflated is the deflate stream of n zero bytes.
func deflated(tb testing.TB, n int) string {
	data := archive(tb, entry{name: "x", content: strings.Repeat("\x00", n)})
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		tb.Fatal(err)
	}
	at, err := r.File[0].DataOffset()
	if err != nil {
		tb.Fatal(err)
	}
	return string(data[at : at+int64(r.File[0].CompressedSize64)])
}

var smallLimits = Limits{Files: 5, FileBytes: 1000}

const smallTotal = 1500

func TestHostileZips(t *testing.T) {
	t.Parallel()
	for want, data := range hostile(t) {
		files, err := readZip(data, smallLimits, smallTotal)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %q in it", files, err, want)
		}
	}
}

func FuzzZip(f *testing.F) {
	for _, data := range hostile(f) {
		f.Add(data)
	}
	f.Add(archive(f, entry{name: "a/b.txt", content: "b"}, entry{name: "a.txt", content: "a"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := readZip(data, smallLimits, smallTotal)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") || files != nil {
				t.Errorf("%v with the error %q", files, err)
			}
			return
		}
		total, seen := 0, map[string]bool{}
		for _, file := range files {
			total += len(file.Data)
			if !fs.ValidPath(file.Name) || len(file.Name) > 255 || strings.ContainsAny(file.Name, "\\:\x00\n") || seen[strings.ToLower(file.Name)] {
				t.Errorf("file %q", file.Name)
			}
			seen[strings.ToLower(file.Name)] = true
			if len(file.Data) > int(smallLimits.FileBytes) {
				t.Errorf("%d bytes", len(file.Data))
			}
		}
		if total > smallTotal || len(files) > smallLimits.Files {
			t.Errorf("%d bytes in %d files", total, len(files))
		}
	})
}
