// An echo agent on the official Go SDK 2.3.1, deterministic and without a model.
//
// A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
// doing; options choose what a deployment may choose, or make the executor misbehave.
package main

import (
	"context"
	"iter"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"

	"lab/echo/kit"
)

// Where 0.3 is served beside 1.0: the SDK has a handler for each.
const compatMount = "/v0.3"

type echo struct {
	work      time.Duration
	hangs     bool
	finishing atomic.Int64
}

// Execute answers with what it was told: the text as it came, other parts by their kind and type.
func (agent *echo) Execute(ctx context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if call.StoredTask == nil && !yield(a2a.NewSubmittedTask(call, call.Message), nil) {
			return
		}
		time.Sleep(agent.work)
		if !yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateWorking, nil), nil) {
			return
		}
		if agent.hangs && agent.finishing.Add(-1) < 0 {
			<-ctx.Done()
			return
		}
		var told []string
		for _, part := range call.Message.Parts {
			told = append(told, described(part))
		}
		for index, chunk := range []string{"echo: ", strings.Join(told, " ")} {
			time.Sleep(agent.work)
			part := a2a.NewTextPart(chunk)
			part.MediaType = "text/plain"
			event := a2a.NewArtifactUpdateEvent(call, "echo", part)
			event.Artifact.Name, event.Append, event.LastChunk = "echo", index > 0, index > 0
			if !yield(event, nil) {
				return
			}
		}
		time.Sleep(agent.work)
		yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCompleted, nil), nil)
	}
}

// Cancel ends the task.
func (agent *echo) Cancel(_ context.Context, call *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(call, a2a.TaskStateCanceled, nil), nil)
	}
}

func described(part *a2a.Part) string {
	kind := "url"
	switch content := part.Content.(type) {
	case a2a.Text:
		return string(content)
	case a2a.Raw:
		kind = "raw"
	case a2a.Data:
		kind = "data"
	}
	if part.MediaType == "" {
		return "[" + kind + " untyped]"
	}
	return "[" + kind + " " + part.MediaType + "]"
}

// exactly keeps a mux from taking a final slash for everything below it.
func exactly(path string) string {
	if strings.HasSuffix(path, "/") {
		return path + "{$}"
	}
	return path
}

// overGrpc serves the handler on a port of its own, and says where.
func overGrpc(handler a2asrv.RequestHandler) *a2a.AgentInterface {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(server)
	go func() { log.Fatal(server.Serve(listener)) }()
	return a2a.NewAgentInterface(listener.Addr().String(), a2a.TransportProtocolGRPC)
}

func main() {
	options := kit.ReadAgentOptions(os.Args[1:])
	agent := &echo{work: options.Work, hangs: options.Hang >= 0}
	agent.finishing.Store(int64(options.Hang))
	card := &a2a.AgentCard{
		Name: "echo", Description: "Answers with what it was told", Version: "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(options.InterfaceURL(), a2a.TransportProtocolJSONRPC),
		},
		Capabilities:      a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes: options.Modes, DefaultOutputModes: options.OutputModes,
		Skills: []a2a.AgentSkill{{
			ID: "echo", Name: "Echo", Description: "Answers with what it was told", Tags: []string{"echo"},
			InputModes: options.Modes, OutputModes: options.OutputModes,
		}},
	}
	handler := a2asrv.NewHandler(agent)
	mux := http.NewServeMux()
	if options.Grpc {
		card.SupportedInterfaces = []*a2a.AgentInterface{overGrpc(handler)}
	} else {
		mux.Handle(exactly(options.Mount), a2asrv.NewJSONRPCHandler(handler))
	}
	if options.Compat {
		old := a2a.NewAgentInterface(options.Origin()+compatMount, a2a.TransportProtocolJSONRPC)
		old.ProtocolVersion = a2av0.Version
		card.SupportedInterfaces = append(card.SupportedInterfaces, old)
		mux.Handle(compatMount, a2av0.NewJSONRPCHandler(handler))
		mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
	} else {
		mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	}
	address := strings.TrimPrefix(options.Origin(), "http://")
	log.Fatal(http.ListenAndServe(address, options.Recorded(mux)))
}
