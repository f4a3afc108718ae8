"""`a2a-lab check URL`: one live agent, stage by stage."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

Many = Optional[list[str]]


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(check)


def check(
    url: Annotated[str, typer.Argument(help="Where the agent is, as its users would give it, or its vendor file.")],
    send: Annotated[bool, typer.Option("--send", help="Also probe and commit a small payload, then clean up.")] = False,
    trust: Annotated[str, typer.Option("--trust", help="JWK set file with the keys that may sign the card.")] = "",
    signature_policy: Annotated[str, typer.Option("--signature-policy", help="prefer or require.")] = "prefer",
    require: Annotated[Many, typer.Option("--require", help="A capability that must be declared; repeatable.")] = None,
    mode: Annotated[str, typer.Option("--mode", help="Media type of the payload.")] = "text/plain",
    text: Annotated[Optional[str], typer.Option("--text", help="What the payload says.")] = None,
    accept: Annotated[
        Many, typer.Option("--accept", help="An output media type that is acceptable; repeatable.")
    ] = None,
    skill: Annotated[str, typer.Option("--skill", help="Id of the skill meant.")] = "",
    supports: Annotated[
        Many, typer.Option("--supports", help="A protocol version to speak; repeatable, in order.")
    ] = None,
    binding: Annotated[
        Many, typer.Option("--binding", help="A binding to call over: JSONRPC, HTTP+JSON or GRPC; repeatable.")
    ] = None,
    extension: Annotated[
        Many, typer.Option("--extension", help="URI of an extension that is spoken; repeatable.")
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant to select.")] = "",
    tenant_by: Annotated[
        str, typer.Option("--tenant-by", help="interface, header[:NAME], path or query[:NAME].")
    ] = "interface",
    topology: Annotated[str, typer.Option("--topology", help="auto, direct or gateway.")] = "auto",
    card_url: Annotated[str, typer.Option("--card-url", help="Where the target's own card lies.")] = "",
    connect_to: Annotated[Many, typer.Option("--connect-to", help="HOST:PORT=HOST:PORT, as curl has it.")] = None,
    header_env: Annotated[
        Many, typer.Option("--header-env", help="NAME=VARIABLE: a header from that variable.")
    ] = None,
    bearer_env: Annotated[str, typer.Option("--bearer-env", help="Variable that holds a bearer token.")] = "",
    api_key_env: Annotated[str, typer.Option("--api-key-env", help="[HEADER=]VARIABLE that holds an API key.")] = "",
    basic_env: Annotated[str, typer.Option("--basic-env", help="USER_VARIABLE:PASSWORD_VARIABLE.")] = "",
    credentials_with: Annotated[str, typer.Option("--credentials-with", help="card, calls or both.")] = "both",
    allow_http: Annotated[Many, typer.Option("--allow-http", help="Host that may be called over http.")] = None,
    allow_origin: Annotated[Many, typer.Option("--allow-origin", help="Origin that the card may lead to.")] = None,
    jku_allow: Annotated[Many, typer.Option("--jku-allow", help="Host whose key sets are trusted.")] = None,
    probe: Annotated[str, typer.Option("--probe", help="strict or lenient.")] = "strict",
    control: Annotated[bool, typer.Option("--control", help="Also probe with a mode that nobody declared.")] = False,
    silence: Annotated[Optional[float], typer.Option("--silence", help="Seconds until the task is asked for.")] = None,
    hang: Annotated[Optional[float], typer.Option("--hang", help="Seconds without an event that are a hang.")] = None,
    total: Annotated[Optional[float], typer.Option("--total", help="Seconds for one message and its looks.")] = None,
    ca_bundle: Annotated[str, typer.Option("--ca-bundle", help="PEM file of certificate authorities.")] = "",
    client_cert: Annotated[str, typer.Option("--client-cert", help="PEM file of a client certificate.")] = "",
    client_key: Annotated[str, typer.Option("--client-key", help="PEM file of its key.")] = "",
    proxy: Annotated[str, typer.Option("--proxy", help="Proxy URL; HTTP_PROXY and the like are honoured too.")] = "",
    out: Annotated[str, typer.Option("--out", help="Folder for evidence and ledger.")] = "runs",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")] = False,
) -> None:
    """Check one live agent. Only its card is read, unless --send says so.

    In place of the URL a vendor file (FILE.toml, reach = "live") says where it is, how it is reached and with which
    credentials; then the options only say what to ask it for.

    Ends with 0 for accept or hint, 1 for worse, 2 where the agent could not be judged, 3 for a fault of the lab.
    """
    from a2a_lab.cli import show
    from a2a_lab.core.quoting import counted
    from a2a_lab.lab.api import check_agent
    from a2a_lab.lab.check import PROMPT

    with show.live(f"checking {url}"):
        result = check_agent(
            url,
            send=send,
            trust=trust,
            signature_policy=signature_policy,
            require=require or (),
            mode=mode,
            text=PROMPT if text is None else text,
            accepts=accept or (),
            skill=skill,
            **({"supports": supports} if supports else {}),
            **({"bindings": binding} if binding else {}),
            extensions=extension or (),
            tenant=tenant,
            tenant_by=tenant_by,
            topology=topology,
            card_url=card_url,
            connect_to=connect_to or (),
            header_env=header_env or (),
            bearer_env=bearer_env,
            api_key_env=api_key_env,
            basic_env=basic_env,
            send_credentials_with=credentials_with,
            allow_http=allow_http or (),
            allow_origin=allow_origin or (),
            jku_allow=jku_allow or (),
            probe=probe,
            control_probe=control,
            silence=silence,
            hang=hang,
            total=total,
            ca_bundle=ca_bundle,
            client_cert=client_cert,
            client_key=client_key,
            proxy=proxy,
            out=out,
        )
    for warning in result.warnings:
        show.fail(f"warning: {warning}")
    if json:
        show.print_json(result.as_json())
        raise typer.Exit(result.exit_code)
    target, authority = result.target, result.authority
    if card := result.card:
        at = f", at {card['url']}" if card["url"] else ", which binds to nothing that was asked for"
        show.say(f"card      {card['name']} {card['version']}, form {card['form']}{at}")
    where = f"{target['binding']} {target['version']}" + (f", tenant {target['tenant']}" if target["tenant"] else "")
    show.say(f"target    {target['url']}" + (f" ({where})" if target["binding"] else ", no card is bound to it"))
    for note in result.notes:
        show.say(f"note      {note}")
    show.say("verdict   ", show.word(result.verdict.value))
    because = f" because of {', '.join(authority['because'])}" if authority["because"] else ""
    show.say("authority ", show.word(authority["status"]), because)
    for version, reading in result.clients.items():
        show.say(f"a {version} client {reading}")
    if result.said:
        show.say(f"outcome   {result.said}")
    show.say("")
    show.stages(result.stages)
    show.say("")
    if result.would_send:
        show.say(result.would_send)
    show.say(f"{counted(result.measures['requests'], 'request')}; evidence: {result.evidence}")
    raise typer.Exit(result.exit_code)
