"""The messages of A2A 0.3 over gRPC: facts of the published proto (`a2a.v1`), and nothing of its text.

A name after `=` is what the proto calls the field in JSON, where that is not its own name. `protobuf` says how a line
is read. Every number, name and type is held against the official SDK in the tests.
"""

from __future__ import annotations

from typing import Final

SERVICE: Final = "a2a.v1.A2AService"

CALLS: Final = """
SendMessage: SendMessageRequest -> SendMessageResponse
SendStreamingMessage: SendMessageRequest -> stream StreamResponse
GetTask: GetTaskRequest -> Task
CancelTask: CancelTaskRequest -> Task
TaskSubscription: TaskSubscriptionRequest -> stream StreamResponse
CreateTaskPushNotificationConfig: CreateTaskPushNotificationConfigRequest -> TaskPushNotificationConfig
GetTaskPushNotificationConfig: GetTaskPushNotificationConfigRequest -> TaskPushNotificationConfig
ListTaskPushNotificationConfig: ListTaskPushNotificationConfigRequest -> ListTaskPushNotificationConfigResponse
GetAgentCard: GetAgentCardRequest -> AgentCard
DeleteTaskPushNotificationConfig: DeleteTaskPushNotificationConfigRequest -> Empty
"""

MESSAGES: Final = """
SendMessageConfiguration: 1 accepted_output_modes *string, 2 push_notification PushNotificationConfig,
    3 history_length int32, 4 blocking bool
Task: 1 id, 2 context_id, 3 status TaskStatus, 4 artifacts *Artifact, 5 history *Message, 6 metadata Struct
TaskStatus: 1 state TaskState, 2 update=message Message, 3 timestamp Timestamp
Part: 1 text string@part, 2 file FilePart@part, 3 data DataPart@part, 4 metadata Struct
FilePart: 1 file_with_uri string@file, 2 file_with_bytes bytes@file, 3 mime_type, 4 name
DataPart: 1 data Struct
Message: 1 message_id, 2 context_id, 3 task_id, 4 role Role, 5 content *Part, 6 metadata Struct,
    7 extensions *string
Artifact: 1 artifact_id, 3 name, 4 description, 5 parts *Part, 6 metadata Struct, 7 extensions *string
TaskStatusUpdateEvent: 1 task_id, 2 context_id, 3 status TaskStatus, 4 final bool, 5 metadata Struct
TaskArtifactUpdateEvent: 1 task_id, 2 context_id, 3 artifact Artifact, 4 append bool, 5 last_chunk bool,
    6 metadata Struct
PushNotificationConfig: 1 id, 2 url, 3 token, 4 authentication AuthenticationInfo
AuthenticationInfo: 1 schemes *string, 2 credentials
AgentInterface: 1 url, 2 transport
AgentCard: 16 protocol_version, 1 name, 2 description, 3 url, 14 preferred_transport,
    15 additional_interfaces *AgentInterface, 4 provider AgentProvider, 5 version, 6 documentation_url,
    7 capabilities AgentCapabilities, 8 security_schemes {SecurityScheme}, 9 security *Security,
    10 default_input_modes *string, 11 default_output_modes *string, 12 skills *AgentSkill,
    13 supports_authenticated_extended_card bool, 17 signatures *AgentCardSignature, 18 icon_url
AgentProvider: 1 url, 2 organization
AgentCapabilities: 1 streaming bool, 2 push_notifications bool, 3 extensions *AgentExtension
AgentExtension: 1 uri, 2 description, 3 required bool, 4 params Struct
AgentSkill: 1 id, 2 name, 3 description, 4 tags *string, 5 examples *string, 6 input_modes *string,
    7 output_modes *string, 8 security *Security
AgentCardSignature: 1 protected, 2 signature, 3 header Struct
TaskPushNotificationConfig: 1 name, 2 push_notification_config PushNotificationConfig
StringList: 1 list *string
Security: 1 schemes {StringList}
SecurityScheme: 1 api_key_security_scheme APIKeySecurityScheme@scheme,
    2 http_auth_security_scheme HTTPAuthSecurityScheme@scheme,
    3 oauth2_security_scheme OAuth2SecurityScheme@scheme,
    4 open_id_connect_security_scheme OpenIdConnectSecurityScheme@scheme,
    5 mtls_security_scheme MutualTlsSecurityScheme@scheme
APIKeySecurityScheme: 1 description, 2 location, 3 name
HTTPAuthSecurityScheme: 1 description, 2 scheme, 3 bearer_format
OAuth2SecurityScheme: 1 description, 2 flows OAuthFlows, 3 oauth2_metadata_url
OpenIdConnectSecurityScheme: 1 description, 2 open_id_connect_url
MutualTlsSecurityScheme: 1 description
OAuthFlows: 1 authorization_code AuthorizationCodeOAuthFlow@flow,
    2 client_credentials ClientCredentialsOAuthFlow@flow, 3 implicit ImplicitOAuthFlow@flow,
    4 password PasswordOAuthFlow@flow
AuthorizationCodeOAuthFlow: 1 authorization_url, 2 token_url, 3 refresh_url, 4 scopes {string}
ClientCredentialsOAuthFlow: 1 token_url, 2 refresh_url, 3 scopes {string}
ImplicitOAuthFlow: 1 authorization_url, 2 refresh_url, 3 scopes {string}
PasswordOAuthFlow: 1 token_url, 2 refresh_url, 3 scopes {string}
SendMessageRequest: 1 request=message Message, 2 configuration SendMessageConfiguration, 3 metadata Struct
GetTaskRequest: 1 name, 2 history_length int32
CancelTaskRequest: 1 name
GetTaskPushNotificationConfigRequest: 1 name
DeleteTaskPushNotificationConfigRequest: 1 name
CreateTaskPushNotificationConfigRequest: 1 parent, 2 config_id, 3 config TaskPushNotificationConfig
TaskSubscriptionRequest: 1 name
ListTaskPushNotificationConfigRequest: 1 parent, 2 page_size int32, 3 page_token
GetAgentCardRequest:
SendMessageResponse: 1 task Task@payload, 2 msg=message Message@payload
StreamResponse: 1 task Task@payload, 2 msg=message Message@payload,
    3 status_update TaskStatusUpdateEvent@payload, 4 artifact_update TaskArtifactUpdateEvent@payload
ListTaskPushNotificationConfigResponse: 1 configs *TaskPushNotificationConfig, 2 next_page_token
enum TaskState: 0 TASK_STATE_UNSPECIFIED, 1 TASK_STATE_SUBMITTED, 2 TASK_STATE_WORKING, 3 TASK_STATE_COMPLETED,
    4 TASK_STATE_FAILED, 5 TASK_STATE_CANCELLED, 6 TASK_STATE_INPUT_REQUIRED, 7 TASK_STATE_REJECTED, 8
    TASK_STATE_AUTH_REQUIRED
enum Role: 0 ROLE_UNSPECIFIED, 1 ROLE_USER, 2 ROLE_AGENT
"""
