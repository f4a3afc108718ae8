// A consumer on the official Go SDK 2.3.1: its resolver finds the card and its factory chooses the interface; with
// -compat it also reads 0.3.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"lab/echo/kit"
)

func main() {
	options := kit.ReadConsumerOptions()
	kit.Run(func(seen *kit.Seen) error { return converse(options, seen) })
}

func converse(options kit.ConsumerOptions, seen *kit.Seen) error {
	ctx := context.Background()
	client := &http.Client{Timeout: options.Timeout}
	resolver := agentcard.NewResolver(client)
	transports := []a2aclient.FactoryOption{
		a2aclient.WithJSONRPCTransport(client), a2aclient.WithRESTTransport(client),
	}
	if options.Grpc {
		plain := grpc.WithTransportCredentials(insecure.NewCredentials())
		// The factory has its own transports as well; without them it would take JSON-RPC where a card offers both.
		transports = []a2aclient.FactoryOption{a2aclient.WithDefaultsDisabled(), a2agrpc.WithGRPCTransport(plain)}
	}
	if options.Compat {
		resolver.CardParser = a2av0.NewAgentCardParser()
		transports = append(transports, a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: client}))
	}
	var where []agentcard.ResolveOption
	if options.CardPath != "" {
		where = append(where, agentcard.WithPath(options.CardPath))
	}
	card, err := resolver.Resolve(ctx, options.URL, where...)
	if err != nil {
		return err
	}
	caller, err := a2aclient.NewFromCard(ctx, card, transports...)
	if err != nil {
		return err
	}
	request := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, partOf(options))}
	if options.Op == "send" {
		answer, err := caller.SendMessage(ctx, request)
		if err != nil {
			return err
		}
		note(seen, answer)
		return nil
	}
	for event, err := range caller.SendStreamingMessage(ctx, request) {
		if err != nil {
			return err
		}
		note(seen, event)
	}
	return nil
}

func partOf(options kit.ConsumerOptions) *a2a.Part {
	content := options.Content()
	var part *a2a.Part
	switch {
	case strings.HasPrefix(options.Mode, "text/"):
		part = a2a.NewTextPart(string(content))
	case options.Mode == "application/json":
		var data any
		if json.Unmarshal(content, &data) != nil {
			data = map[string]any{"text": string(content)}
		}
		part = a2a.NewDataPart(data)
	default:
		part = a2a.NewRawPart(content)
	}
	part.MediaType = options.Mode
	return part
}

func textOf(parts a2a.ContentParts) string {
	text := ""
	for _, part := range parts {
		switch content := part.Content.(type) {
		case a2a.Text:
			text += string(content)
		case a2a.Data:
			data, _ := json.Marshal(content.Value)
			text += string(data)
		default:
			text += "[" + part.MediaType + "]"
		}
	}
	return text
}

func note(seen *kit.Seen, event a2a.Event) {
	seen.Event()
	switch event := event.(type) {
	case *a2a.Task:
		seen.Status(string(event.Status.State))
		for _, artifact := range event.Artifacts {
			seen.Artifact(string(artifact.ID), textOf(artifact.Parts), false)
		}
	case *a2a.Message:
		seen.Message(textOf(event.Parts))
	case *a2a.TaskStatusUpdateEvent:
		seen.Status(string(event.Status.State))
	case *a2a.TaskArtifactUpdateEvent:
		seen.Artifact(string(event.Artifact.ID), textOf(event.Artifact.Parts), event.Append)
	default:
		seen.NothingInIt()
	}
}
