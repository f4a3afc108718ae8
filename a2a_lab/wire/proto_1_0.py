"""The messages of A2A 1.0 over gRPC: facts of the published proto (`lf.a2a.v1`), and nothing of its text.

`protobuf` says how a line is read. Every number, name and type is held against the official SDK in the tests.
"""

from __future__ import annotations

from typing import Final

SERVICE: Final = "lf.a2a.v1.A2AService"

CALLS: Final = """
SendMessage: SendMessageRequest -> SendMessageResponse
SendStreamingMessage: SendMessageRequest -> stream StreamResponse
GetTask: GetTaskRequest -> Task
ListTasks: ListTasksRequest -> ListTasksResponse
CancelTask: CancelTaskRequest -> Task
SubscribeToTask: SubscribeToTaskRequest -> stream StreamResponse
CreateTaskPushNotificationConfig: TaskPushNotificationConfig -> TaskPushNotificationConfig
GetTaskPushNotificationConfig: GetTaskPushNotificationConfigRequest -> TaskPushNotificationConfig
ListTaskPushNotificationConfigs: ListTaskPushNotificationConfigsRequest -> ListTaskPushNotificationConfigsResponse
GetExtendedAgentCard: GetExtendedAgentCardRequest -> AgentCard
DeleteTaskPushNotificationConfig: DeleteTaskPushNotificationConfigRequest -> Empty
"""

MESSAGES: Final = """
SendMessageConfiguration: 1 accepted_output_modes *string,
    2 task_push_notification_config TaskPushNotificationConfig, 3 history_length ?int32,
    4 return_immediately bool
Task: 1 id, 2 context_id, 3 status TaskStatus, 4 artifacts *Artifact, 5 history *Message, 6 metadata Struct
TaskStatus: 1 state TaskState, 2 message Message, 3 timestamp Timestamp
Part: 1 text string@content, 2 raw bytes@content, 3 url string@content, 4 data Value@content,
    5 metadata Struct, 6 filename, 7 media_type
Message: 1 message_id, 2 context_id, 3 task_id, 4 role Role, 5 parts *Part, 6 metadata Struct,
    7 extensions *string, 8 reference_task_ids *string
Artifact: 1 artifact_id, 2 name, 3 description, 4 parts *Part, 5 metadata Struct, 6 extensions *string
TaskStatusUpdateEvent: 1 task_id, 2 context_id, 3 status TaskStatus, 4 metadata Struct
TaskArtifactUpdateEvent: 1 task_id, 2 context_id, 3 artifact Artifact, 4 append bool, 5 last_chunk bool,
    6 metadata Struct
AuthenticationInfo: 1 scheme, 2 credentials
AgentInterface: 1 url, 2 protocol_binding, 3 tenant, 4 protocol_version
AgentCard: 1 name, 2 description, 3 supported_interfaces *AgentInterface, 4 provider AgentProvider, 5 version,
    6 documentation_url ?string, 7 capabilities AgentCapabilities, 8 security_schemes {SecurityScheme},
    9 security_requirements *SecurityRequirement, 10 default_input_modes *string,
    11 default_output_modes *string, 12 skills *AgentSkill, 13 signatures *AgentCardSignature,
    14 icon_url ?string
AgentProvider: 1 url, 2 organization
AgentCapabilities: 1 streaming ?bool, 2 push_notifications ?bool, 3 extensions *AgentExtension,
    4 extended_agent_card ?bool
AgentExtension: 1 uri, 2 description, 3 required bool, 4 params Struct
AgentSkill: 1 id, 2 name, 3 description, 4 tags *string, 5 examples *string, 6 input_modes *string,
    7 output_modes *string, 8 security_requirements *SecurityRequirement
AgentCardSignature: 1 protected, 2 signature, 3 header Struct
TaskPushNotificationConfig: 1 tenant, 2 id, 3 task_id, 4 url, 5 token, 6 authentication AuthenticationInfo
StringList: 1 list *string
SecurityRequirement: 1 schemes {StringList}
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
    4 password PasswordOAuthFlow@flow, 5 device_code DeviceCodeOAuthFlow@flow
AuthorizationCodeOAuthFlow: 1 authorization_url, 2 token_url, 3 refresh_url, 4 scopes {string},
    5 pkce_required bool
ClientCredentialsOAuthFlow: 1 token_url, 2 refresh_url, 3 scopes {string}
ImplicitOAuthFlow: 1 authorization_url, 2 refresh_url, 3 scopes {string}
PasswordOAuthFlow: 1 token_url, 2 refresh_url, 3 scopes {string}
DeviceCodeOAuthFlow: 1 device_authorization_url, 2 token_url, 3 refresh_url, 4 scopes {string}
SendMessageRequest: 1 tenant, 2 message Message, 3 configuration SendMessageConfiguration, 4 metadata Struct
GetTaskRequest: 1 tenant, 2 id, 3 history_length ?int32
ListTasksRequest: 1 tenant, 2 context_id, 3 status TaskState, 4 page_size ?int32, 5 page_token,
    6 history_length ?int32, 7 status_timestamp_after Timestamp, 8 include_artifacts ?bool
ListTasksResponse: 1 tasks *Task, 2 next_page_token, 3 page_size int32, 4 total_size int32
CancelTaskRequest: 1 tenant, 2 id, 3 metadata Struct
GetTaskPushNotificationConfigRequest: 1 tenant, 2 task_id, 3 id
DeleteTaskPushNotificationConfigRequest: 1 tenant, 2 task_id, 3 id
SubscribeToTaskRequest: 1 tenant, 2 id
ListTaskPushNotificationConfigsRequest: 4 tenant, 1 task_id, 2 page_size int32, 3 page_token
GetExtendedAgentCardRequest: 1 tenant
SendMessageResponse: 1 task Task@payload, 2 message Message@payload
StreamResponse: 1 task Task@payload, 2 message Message@payload, 3 status_update TaskStatusUpdateEvent@payload,
    4 artifact_update TaskArtifactUpdateEvent@payload
ListTaskPushNotificationConfigsResponse: 1 configs *TaskPushNotificationConfig, 2 next_page_token
enum TaskState: 0 TASK_STATE_UNSPECIFIED, 1 TASK_STATE_SUBMITTED, 2 TASK_STATE_WORKING, 3 TASK_STATE_COMPLETED,
    4 TASK_STATE_FAILED, 5 TASK_STATE_CANCELED, 6 TASK_STATE_INPUT_REQUIRED, 7 TASK_STATE_REJECTED, 8
    TASK_STATE_AUTH_REQUIRED
enum Role: 0 ROLE_UNSPECIFIED, 1 ROLE_USER, 2 ROLE_AGENT
"""
