// Package kit is what the Go agent and consumer share with those of other languages: the same options, the same request
// log, the same one line at the end. It knows nothing of the SDK.
package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	nonceHeader     = "X-A2A-Lab-Nonce"
	ownBug          = 3
	shownCharacters = 120 // of a text, in the sentence only
)

// Headers that say how a client behaves; anything that may carry a credential is left out.
var loggedHeaders = []string{
	"a2a-version", "a2a-extensions", "accept", "content-type", "if-none-match", "user-agent", "x-tenant",
}

// AgentOptions are the options that every echo agent understands.
type AgentOptions struct {
	Port        int
	Mount       string
	Slash       bool
	Modes       []string
	OutputModes []string
	Hang        int // tasks that still finish before the others hang; negative: none hangs
	Work        time.Duration
	Log         string
	Nonce       string
	Compat      bool
	Grpc        bool
}

// ReadAgentOptions reads the command line; lists of several words, and an option whose value may be missing, are not
// for package flag.
func ReadAgentOptions(words []string) AgentOptions {
	options := AgentOptions{Mount: "/", Modes: []string{"text/plain"}, OutputModes: []string{"text/plain"}, Hang: -1}
	take := func(many bool) []string {
		var found []string
		for len(words) > 0 && !strings.HasPrefix(words[0], "--") && (many || len(found) == 0) {
			found, words = append(found, words[0]), words[1:]
		}
		return found
	}
	one := func(name string) string {
		found := take(false)
		if len(found) == 0 {
			usage(fmt.Sprintf("%s needs a value", name))
		}
		return found[0]
	}
	number := func(name, text string) float64 {
		var value float64
		if _, err := fmt.Sscan(text, &value); err != nil {
			usage(fmt.Sprintf("%s is a number, not %q", name, text))
		}
		return value
	}
	for len(words) > 0 {
		name := words[0]
		words = words[1:]
		switch name {
		case "--help":
			fmt.Println("usage: agent --port N [--mount PATH] [--interface-slash] [--modes MIME...] [--output-modes MIME...]" +
				" [--hang [N]] [--work SECONDS] [--log FILE] [--nonce TEXT] [--compat] [--grpc]")
			os.Exit(0)
		case "--port":
			options.Port = int(number(name, one(name)))
		case "--mount":
			options.Mount = "/" + strings.TrimPrefix(one(name), "/")
		case "--interface-slash":
			options.Slash = true
		case "--modes":
			options.Modes = take(true)
		case "--output-modes":
			options.OutputModes = take(true)
		case "--hang":
			options.Hang = 0
			if found := take(false); len(found) > 0 {
				options.Hang = int(number(name, found[0]))
			}
		case "--work":
			options.Work = time.Duration(number(name, one(name)) * float64(time.Second))
		case "--log":
			options.Log = one(name)
		case "--nonce":
			options.Nonce = one(name)
		case "--compat":
			options.Compat = true
		case "--grpc":
			options.Grpc = true
		default:
			usage("unrecognized arguments: " + name)
		}
	}
	if options.Port == 0 {
		usage("--port is required")
	}
	return options
}

func usage(problem string) {
	fmt.Fprintln(os.Stderr, "error: "+problem)
	os.Exit(2)
}

// Origin is where the agent is served.
func (options AgentOptions) Origin() string { return fmt.Sprintf("http://127.0.0.1:%d", options.Port) }

// InterfaceURL is where the card says that the endpoint is.
func (options AgentOptions) InterfaceURL() string {
	slash := ""
	if options.Slash && !strings.HasSuffix(options.Mount, "/") {
		slash = "/"
	}
	return options.Origin() + options.Mount + slash
}

// Recorded writes every request down before it is handled, and stamps every response with the nonce.
func (options AgentOptions) Recorded(next http.Handler) http.Handler {
	var oneByOne sync.Mutex
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if options.Nonce != "" {
			response.Header().Set(nonceHeader, options.Nonce)
		}
		if options.Log != "" {
			body, _ := io.ReadAll(request.Body)
			request.Body = io.NopCloser(bytes.NewReader(body))
			oneByOne.Lock()
			options.write(request, body)
			oneByOne.Unlock()
		}
		next.ServeHTTP(response, request)
	})
}

func (options AgentOptions) write(request *http.Request, body []byte) {
	headers := map[string]string{}
	for _, name := range loggedHeaders {
		if value := request.Header.Get(name); value != "" {
			headers[name] = value
		}
	}
	var call struct {
		Method *string `json:"method"`
	}
	_ = json.Unmarshal(body, &call)
	line, _ := json.Marshal(map[string]any{
		"at": float64(time.Now().UnixMicro()) / 1e6, "method": request.Method, "path": request.URL.Path,
		"headers": headers, "rpc": call.Method, "bytes": len(body),
	})
	file, err := os.OpenFile(options.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(append(line, '\n'))
}

// ConsumerOptions are the options that every consumer understands.
type ConsumerOptions struct {
	URL, Op, Text, Mode, File, CardPath string
	Timeout                             time.Duration
	Compat, Grpc                        bool
}

// ReadConsumerOptions reads the command line.
func ReadConsumerOptions() ConsumerOptions {
	var options ConsumerOptions
	var timeout float64
	flag.StringVar(&options.URL, "url", "", "address of the agent, as a user would be told it")
	flag.StringVar(&options.Op, "op", "", "send or stream")
	flag.StringVar(&options.Text, "text", "", "what to say")
	flag.StringVar(&options.Mode, "mode", "text/plain", "media type of what is sent")
	flag.StringVar(&options.File, "file", "", "send the content of this file instead of the text")
	flag.StringVar(&options.CardPath, "card-path", "", "where to look for the card, when told")
	flag.Float64Var(&timeout, "timeout", 30, "the SDK's transport timeout, in seconds")
	flag.BoolVar(&options.Compat, "compat", false, "also speak 0.3")
	flag.BoolVar(&options.Grpc, "grpc", false, "speak gRPC and nothing else")
	flag.Parse()
	if options.URL == "" || (options.Op != "send" && options.Op != "stream") {
		usage("--url is required, and --op send or stream")
	}
	options.Timeout = time.Duration(timeout * float64(time.Second))
	return options
}

// Content is the text or the file.
func (options ConsumerOptions) Content() []byte {
	if options.File == "" {
		return []byte(options.Text)
	}
	content, err := os.ReadFile(options.File)
	if err != nil {
		usage(err.Error())
	}
	return content
}

// Seen is what the SDK delivered to its caller, in the order it came.
type Seen struct {
	state         string
	events, empty int
	names         []string
	artifacts     map[string]string
	messages      []string
}

// Event counts what the SDK delivered.
func (seen *Seen) Event() { seen.events++ }

// NothingInIt notes an event of which the SDK kept nothing.
func (seen *Seen) NothingInIt() { seen.empty++ }

// Status notes the task's state.
func (seen *Seen) Status(state string) {
	seen.state = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_")), "_", "-")
}

// Artifact notes an artifact, or more of one.
func (seen *Seen) Artifact(name, text string, more bool) {
	if seen.artifacts == nil {
		seen.artifacts = map[string]string{}
	}
	before, known := seen.artifacts[name]
	if !known {
		seen.names = append(seen.names, name)
	}
	if !more {
		before = ""
	}
	seen.artifacts[name] = before + text
}

// Message notes a message that is no task.
func (seen *Seen) Message(text string) { seen.messages = append(seen.messages, text) }

func shortened(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > shownCharacters {
		return string(line[:shownCharacters-3]) + "..."
	}
	return string(line)
}

func (seen *Seen) said(problem string) string {
	switch {
	case problem != "":
		return fmt.Sprintf("failed after %d events: %s", seen.events, shortened(problem))
	case seen.events == 0:
		return "nothing came, and the SDK reported no error"
	}
	parts := []string{"ended without a state"}
	if seen.state != "" {
		parts[0] = seen.state
	} else if len(seen.messages) > 0 {
		parts[0] = "answered"
	}
	for _, name := range seen.names {
		parts = append(parts, fmt.Sprintf("artifact '%s': '%s'", name, shortened(seen.artifacts[name])))
	}
	for _, text := range seen.messages {
		parts = append(parts, fmt.Sprintf("message '%s'", shortened(text)))
	}
	if seen.empty > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d events had nothing in them", seen.empty, seen.events))
	}
	return strings.Join(parts, ", ")
}

// Run talks, and ends with the result on standard output, or with status 3 where the bug is ours.
func Run(converse func(*Seen) error) {
	seen := &Seen{}
	err := guarded(converse, seen)
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	artifacts := []map[string]string{}
	for _, name := range seen.names {
		artifacts = append(artifacts, map[string]string{"id": name, "text": seen.artifacts[name]})
	}
	// A struct, since the line starts with "ok".
	line, _ := json.Marshal(struct {
		Ok        bool                `json:"ok"`
		State     *string             `json:"state"`
		Artifacts []map[string]string `json:"artifacts"`
		Events    int                 `json:"events"`
		Error     *string             `json:"error"`
		Said      string              `json:"said"`
	}{err == nil && seen.events > 0, orNull(seen.state), artifacts, seen.events, orNull(problem), seen.said(problem)})
	fmt.Printf("\n%s\n", line)
	os.Exit(0)
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// guarded turns a panic of the SDK into what it reported, and one of our own lines into the end with status 3.
func guarded(converse func(*Seen) error, seen *Seen) (err error) {
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		places := make([]uintptr, 16)
		frames := runtime.CallersFrames(places[:runtime.Callers(2, places)])
		for {
			frame, more := frames.Next()
			if !strings.HasPrefix(frame.Function, "runtime.") {
				if strings.HasPrefix(frame.Function, "main.") || strings.HasPrefix(frame.Function, "lab/echo/") {
					fmt.Fprintln(os.Stderr, problem, "in", frame.Function)
					os.Exit(ownBug)
				}
				break
			}
			if !more {
				break
			}
		}
		err = errors.New(fmt.Sprint("panic: ", problem))
	}()
	return converse(seen)
}
