// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

import type { Below, Narrowed, Paged, Subscription } from '../console.ts';
import type { Pending } from '../internal/pending.ts';
import type { RequestOptions } from '../options.ts';
import type {
  AcceptInvitationMutation,
  AcceptInvitationMutationVariables,
  AccountEntriesQuery,
  AccountEntriesQueryVariables,
  AccountEntryQuery,
  AccountEntryQueryVariables,
  AccountForOperatorQuery,
  AccountForOperatorQueryVariables,
  AccountKeysQuery,
  AccountKeysQueryVariables,
  AccountLimitsForOperatorQuery,
  AccountLimitsForOperatorQueryVariables,
  AccountLimitsQuery,
  AccountLimitsQueryVariables,
  AccountMembersQuery,
  AccountMembersQueryVariables,
  AccountOrdersQuery,
  AccountOrdersQueryVariables,
  AccountQuery,
  AccountQueryVariables,
  AccountUsageQuery,
  AccountUsageQueryVariables,
  AddAccountNoteMutation,
  AddAccountNoteMutationVariables,
  AddPasskeyMutation,
  AddPasskeyMutationVariables,
  AddStatusUpdateMutation,
  AddStatusUpdateMutationVariables,
  AddUpstreamKeyMutation,
  AddUpstreamKeyMutationVariables,
  AddUpstreamModelsMutation,
  AddUpstreamModelsMutationVariables,
  AddVendorMutation,
  AddVendorMutationVariables,
  AnnounceMutation,
  AnnounceMutationVariables,
  ApproveMachineLoginMutation,
  ApproveMachineLoginMutationVariables,
  ArchivedMonthsQuery,
  ArchivedMonthsQueryVariables,
  AttributedUsageQuery,
  AttributedUsageQueryVariables,
  AttributionModeQuery,
  AttributionModeQueryVariables,
  AuditLogQuery,
  AuditLogQueryVariables,
  BeginAccountViewMutation,
  BeginAccountViewMutationVariables,
  BeginPasskeyMutation,
  BeginPasskeyMutationVariables,
  BeginPasskeySignInMutation,
  BeginPasskeySignInMutationVariables,
  BeginSecondFactorMutation,
  BeginSecondFactorMutationVariables,
  BonusStepsQuery,
  BonusStepsQueryVariables,
  BookSettingsQuery,
  BookSettingsQueryVariables,
  BudgetChangedSubscription,
  BudgetChangedSubscriptionVariables,
  BudgetQuery,
  BudgetQueryVariables,
  BusinessNoticeSettingsQuery,
  BusinessNoticeSettingsQueryVariables,
  BusinessQuery,
  BusinessQueryVariables,
  CacheSavingsQuery,
  CacheSavingsQueryVariables,
  CancelBatchMutation,
  CancelBatchMutationVariables,
  CancelOrderMutation,
  CancelOrderMutationVariables,
  CatalogQuery,
  CatalogQueryVariables,
  ChangeEmailMutation,
  ChangeEmailMutationVariables,
  ChangePasswordMutation,
  ChangePasswordMutationVariables,
  CloseModelMismatchMutation,
  CloseModelMismatchMutationVariables,
  CloseMonthMutation,
  CloseMonthMutationVariables,
  CloseTransferReviewMutation,
  CloseTransferReviewMutationVariables,
  ClosedMonthsQuery,
  ClosedMonthsQueryVariables,
  CodeBatchesQuery,
  CodeBatchesQueryVariables,
  CodeRedemptionsQuery,
  CodeRedemptionsQueryVariables,
  CompanyQuery,
  CompanyQueryVariables,
  ConfirmSecondFactorMutation,
  ConfirmSecondFactorMutationVariables,
  CreateAccessTokenMutation,
  CreateAccessTokenMutationVariables,
  CreateAccountExportMutation,
  CreateAccountExportMutationVariables,
  CreateBookPaperDownloadMutation,
  CreateBookPaperDownloadMutationVariables,
  CreateBooksDownloadMutation,
  CreateBooksDownloadMutationVariables,
  CreateBusinessChannelMutation,
  CreateBusinessChannelMutationVariables,
  CreateCodesMutation,
  CreateCodesMutationVariables,
  CreateKeyMutation,
  CreateKeyMutationVariables,
  CreateLedgerDownloadMutation,
  CreateLedgerDownloadMutationVariables,
  CreateNoticeChannelMutation,
  CreateNoticeChannelMutationVariables,
  CreateOrderMutation,
  CreateOrderMutationVariables,
  CreateProbeAgentMutation,
  CreateProbeAgentMutationVariables,
  CreateProjectMutation,
  CreateProjectMutationVariables,
  CreateWebhookEndpointMutation,
  CreateWebhookEndpointMutationVariables,
  CreditTransferMutation,
  CreditTransferMutationVariables,
  DeleteBusinessChannelMutation,
  DeleteBusinessChannelMutationVariables,
  DeleteKeyMutation,
  DeleteKeyMutationVariables,
  DeleteNoticeChannelMutation,
  DeleteNoticeChannelMutationVariables,
  DeleteUpstreamKeyMutation,
  DeleteUpstreamKeyMutationVariables,
  DeleteWebhookEndpointMutation,
  DeleteWebhookEndpointMutationVariables,
  DenyMachineLoginMutation,
  DenyMachineLoginMutationVariables,
  DifferingRequestsQuery,
  DifferingRequestsQueryVariables,
  DisableSecondFactorMutation,
  DisableSecondFactorMutationVariables,
  DiscoverVendorMutation,
  DiscoverVendorMutationVariables,
  EndAnnouncementMutation,
  EndAnnouncementMutationVariables,
  EndGrantMutation,
  EndGrantMutationVariables,
  EntryQuery,
  EntryQueryVariables,
  EraseAccountMutation,
  EraseAccountMutationVariables,
  EstimateQuery,
  EstimateQueryVariables,
  FailuresQuery,
  FailuresQueryVariables,
  FindBatchQuery,
  FindBatchQueryVariables,
  FindKeyQuery,
  FindKeyQueryVariables,
  FindOrdersToMatchQuery,
  FindOrdersToMatchQueryVariables,
  GiveGrantMutation,
  GiveGrantMutationVariables,
  HoldsQuery,
  HoldsQueryVariables,
  ImportVendorUsageMutation,
  ImportVendorUsageMutationVariables,
  InvariantsQuery,
  InvariantsQueryVariables,
  InviteMemberMutation,
  InviteMemberMutationVariables,
  InvoiceProblemsQuery,
  InvoiceProblemsQueryVariables,
  LatencyQuery,
  LatencyQueryVariables,
  LedgerAppendedSubscription,
  LedgerAppendedSubscriptionVariables,
  LinkIdentityMutation,
  LinkIdentityMutationVariables,
  ListAccessTokensQuery,
  ListAccessTokensQueryVariables,
  ListAccountsQuery,
  ListAccountsQueryVariables,
  ListAllPlansQuery,
  ListAllPlansQueryVariables,
  ListAnomaliesQuery,
  ListAnomaliesQueryVariables,
  ListBankTransfersQuery,
  ListBankTransfersQueryVariables,
  ListBatchesQuery,
  ListBatchesQueryVariables,
  ListBusinessChannelsQuery,
  ListBusinessChannelsQueryVariables,
  ListBusinessNoticesQuery,
  ListBusinessNoticesQueryVariables,
  ListDeliveriesQuery,
  ListDeliveriesQueryVariables,
  ListEndpointsQuery,
  ListEndpointsQueryVariables,
  ListEntriesQuery,
  ListEntriesQueryVariables,
  ListIdentitiesQuery,
  ListIdentitiesQueryVariables,
  ListIncidentsQuery,
  ListIncidentsQueryVariables,
  ListInvitationsQuery,
  ListInvitationsQueryVariables,
  ListKeysQuery,
  ListKeysQueryVariables,
  ListMembersQuery,
  ListMembersQueryVariables,
  ListModelMismatchesQuery,
  ListModelMismatchesQueryVariables,
  ListNoticeChannelsQuery,
  ListNoticeChannelsQueryVariables,
  ListNoticesQuery,
  ListNoticesQueryVariables,
  ListOperatorsQuery,
  ListOperatorsQueryVariables,
  ListOrdersQuery,
  ListOrdersQueryVariables,
  ListPasskeysQuery,
  ListPasskeysQueryVariables,
  ListProjectsQuery,
  ListProjectsQueryVariables,
  ListRefundsQuery,
  ListRefundsQueryVariables,
  ListVendorFilesQuery,
  ListVendorFilesQueryVariables,
  MachineLoginQuery,
  MachineLoginQueryVariables,
  MarginsQuery,
  MarginsQueryVariables,
  MatchTransferMutation,
  MatchTransferMutationVariables,
  MeQuery,
  MeQueryVariables,
  MemberSpendQuery,
  MemberSpendQueryVariables,
  ModelQuery,
  ModelQueryVariables,
  ModelsQuery,
  ModelsQueryVariables,
  NextMonthToCloseQuery,
  NextMonthToCloseQueryVariables,
  NodeQuery,
  NodeQueryVariables,
  NoticeSettingsQuery,
  NoticeSettingsQueryVariables,
  OpenAccountMutation,
  OpenAccountMutationVariables,
  OperatorSettingsQuery,
  OperatorSettingsQueryVariables,
  OperatorViewsQuery,
  OperatorViewsQueryVariables,
  OrderQuery,
  OrderQueryVariables,
  OrderStatusSubscription,
  OrderStatusSubscriptionVariables,
  PayRefundMutation,
  PayRefundMutationVariables,
  PlansQuery,
  PlansQueryVariables,
  ProbingQuery,
  ProbingQueryVariables,
  ProjectQuery,
  ProjectQueryVariables,
  RecordTransferMutation,
  RecordTransferMutationVariables,
  RedeemCodeMutation,
  RedeemCodeMutationVariables,
  RefundOrderMutation,
  RefundOrderMutationVariables,
  RefundQuoteQuery,
  RefundQuoteQueryVariables,
  RefundTransferMutation,
  RefundTransferMutationVariables,
  RemoveIdentityMutation,
  RemoveIdentityMutationVariables,
  RemoveMemberMutation,
  RemoveMemberMutationVariables,
  RemovePasskeyMutation,
  RemovePasskeyMutationVariables,
  RenamePasskeyMutation,
  RenamePasskeyMutationVariables,
  RenewBackupCodesMutation,
  RenewBackupCodesMutationVariables,
  ReplayWebhookDeliveryMutation,
  ReplayWebhookDeliveryMutationVariables,
  RequestIdentityLinkMutation,
  RequestIdentityLinkMutationVariables,
  RequestPasswordResetMutation,
  RequestPasswordResetMutationVariables,
  ResendVerificationMutation,
  ResendVerificationMutationVariables,
  ResetPasswordMutation,
  ResetPasswordMutationVariables,
  RetryInvoiceMutation,
  RetryInvoiceMutationVariables,
  RevenueQuery,
  RevenueQueryVariables,
  RevokeAccessTokenMutation,
  RevokeAccessTokenMutationVariables,
  RevokeCodesMutation,
  RevokeCodesMutationVariables,
  RevokeInvitationMutation,
  RevokeInvitationMutationVariables,
  RevokeKeyMutation,
  RevokeKeyMutationVariables,
  RevokeOtherSessionsMutation,
  RevokeOtherSessionsMutationVariables,
  RevokeProbeAgentMutation,
  RevokeProbeAgentMutationVariables,
  RevokeSessionMutation,
  RevokeSessionMutationVariables,
  RotateKeyMutation,
  RotateKeyMutationVariables,
  RotateWebhookSecretMutation,
  RotateWebhookSecretMutationVariables,
  SaveBonusStepsMutation,
  SaveBonusStepsMutationVariables,
  SaveJournalAccountsMutation,
  SaveJournalAccountsMutationVariables,
  SaveModelMutation,
  SaveModelMutationVariables,
  SavePlanMutation,
  SavePlanMutationVariables,
  SavePricesMutation,
  SavePricesMutationVariables,
  SaveProbingMutation,
  SaveProbingMutationVariables,
  SaveSellerMutation,
  SaveSellerMutationVariables,
  SaveSettingsMutation,
  SaveSettingsMutationVariables,
  SaveTopUpMutation,
  SaveTopUpMutationVariables,
  SaveUpstreamMutation,
  SaveUpstreamMutationVariables,
  SearchOrdersQuery,
  SearchOrdersQueryVariables,
  SearchQuery,
  SearchQueryVariables,
  SellerQuery,
  SellerQueryVariables,
  SendTestWebhookMutation,
  SendTestWebhookMutationVariables,
  ServiceStateQuery,
  ServiceStateQueryVariables,
  ServiceStatusQuery,
  ServiceStatusQueryVariables,
  SetAccountLimitsMutation,
  SetAccountLimitsMutationVariables,
  SetAccountStatusMutation,
  SetAccountStatusMutationVariables,
  SetAttributionModeMutation,
  SetAttributionModeMutationVariables,
  SetBookTaxesMutation,
  SetBookTaxesMutationVariables,
  SetCompanyMutation,
  SetCompanyMutationVariables,
  SetExchangeRateMutation,
  SetExchangeRateMutationVariables,
  SetMemberBudgetMutation,
  SetMemberBudgetMutationVariables,
  SetMemberRoleMutation,
  SetMemberRoleMutationVariables,
  SetModelEnabledMutation,
  SetModelEnabledMutationVariables,
  SetOperatorMutation,
  SetOperatorMutationVariables,
  SetRoutesMutation,
  SetRoutesMutationVariables,
  SetUpstreamEnabledMutation,
  SetUpstreamEnabledMutationVariables,
  SetupQuery,
  SetupQueryVariables,
  ShopQuery,
  ShopQueryVariables,
  ShortfallsQuery,
  ShortfallsQueryVariables,
  SignInMethodsQuery,
  SignInMethodsQueryVariables,
  SignInMutation,
  SignInMutationVariables,
  SignInWithCodeMutation,
  SignInWithCodeMutationVariables,
  SignInWithPasskeyMutation,
  SignInWithPasskeyMutationVariables,
  SignOutMutation,
  SignOutMutationVariables,
  SignUpMutation,
  SignUpMutationVariables,
  StatementQuery,
  StatementQueryVariables,
  StatementsQuery,
  StatementsQueryVariables,
  TestBusinessChannelMutation,
  TestBusinessChannelMutationVariables,
  TestNoticeChannelMutation,
  TestNoticeChannelMutationVariables,
  TestRouteMutation,
  TestRouteMutationVariables,
  TestSettingsMutation,
  TestSettingsMutationVariables,
  TestVendorKeyMutation,
  TestVendorKeyMutationVariables,
  TimelineQuery,
  TimelineQueryVariables,
  TopUpQuery,
  TopUpQueryVariables,
  TransferProposalsQuery,
  TransferProposalsQueryVariables,
  UndoRefundMutation,
  UndoRefundMutationVariables,
  UndoTransferMatchMutation,
  UndoTransferMatchMutationVariables,
  UndoVendorImportMutation,
  UndoVendorImportMutationVariables,
  UpdateBusinessChannelMutation,
  UpdateBusinessChannelMutationVariables,
  UpdateBusinessNoticeSettingsMutation,
  UpdateBusinessNoticeSettingsMutationVariables,
  UpdateKeyMutation,
  UpdateKeyMutationVariables,
  UpdateNoticeChannelMutation,
  UpdateNoticeChannelMutationVariables,
  UpdateNoticeSettingsMutation,
  UpdateNoticeSettingsMutationVariables,
  UpdateProfileMutation,
  UpdateProfileMutationVariables,
  UpdateProjectMutation,
  UpdateProjectMutationVariables,
  UpdateWebhookEndpointMutation,
  UpdateWebhookEndpointMutationVariables,
  UpstreamsQuery,
  UpstreamsQueryVariables,
  UptimeQuery,
  UptimeQueryVariables,
  UsageQuery,
  UsageQueryVariables,
  VendorBillsQuery,
  VendorBillsQueryVariables,
  VendorComparisonQuery,
  VendorComparisonQueryVariables,
  VendorProfilesQuery,
  VendorProfilesQueryVariables,
  VendorsQuery,
  VendorsQueryVariables,
  VerifyEmailMutation,
  VerifyEmailMutationVariables,
} from './console-types.ts';

/** What `account` answers. */
export type AccountAnswer = AccountQuery['account'];

/** What `accountLimits` answers. */
export type AccountLimitsAnswer = Below<AccountLimitsQuery['account'], 'limits'>;

/** What `setAccountLimits` answers. */
export type SetAccountLimitsAnswer = SetAccountLimitsMutation['setAccountLimits'];

/** What `attributionMode` answers. */
export type AttributionModeAnswer = Below<AttributionModeQuery['account'], 'attributionMode'>;

/** What `setAttributionMode` answers. */
export type SetAttributionModeAnswer = SetAttributionModeMutation['setAttributionMode'];

/** What `node` answers. */
export type NodeAnswer = NodeQuery['node'];

/** What `listMembers` answers. */
export type ListMembersAnswer = Below<ListMembersQuery['account'], 'members'>;

/** What `listInvitations` answers. */
export type ListInvitationsAnswer = Below<ListInvitationsQuery['account'], 'invitations'>;

/** What `inviteMember` answers. */
export type InviteMemberAnswer = InviteMemberMutation['inviteMember'];

/** What `acceptInvitation` answers. */
export type AcceptInvitationAnswer = AcceptInvitationMutation['acceptInvitation'];

/** What `revokeInvitation` answers. */
export type RevokeInvitationAnswer = RevokeInvitationMutation['revokeInvitation'];

/** What `setMemberRole` answers. */
export type SetMemberRoleAnswer = SetMemberRoleMutation['setMemberRole'];

/** What `removeMember` answers. */
export type RemoveMemberAnswer = RemoveMemberMutation['removeMember'];

/** What `listNotices` answers. */
export type ListNoticesAnswer = Below<ListNoticesQuery['account'], 'notices'>;

/** What `noticeSettings` answers. */
export type NoticeSettingsAnswer = Below<NoticeSettingsQuery['account'], 'noticeSettings'>;

/** What `updateNoticeSettings` answers. */
export type UpdateNoticeSettingsAnswer = UpdateNoticeSettingsMutation['updateNoticeSettings'];

/** What `listNoticeChannels` answers. */
export type ListNoticeChannelsAnswer = Below<ListNoticeChannelsQuery['account'], 'noticeChannels'>;

/** What `createNoticeChannel` answers. */
export type CreateNoticeChannelAnswer = CreateNoticeChannelMutation['createNoticeChannel'];

/** What `updateNoticeChannel` answers. */
export type UpdateNoticeChannelAnswer = UpdateNoticeChannelMutation['updateNoticeChannel'];

/** What `deleteNoticeChannel` answers. */
export type DeleteNoticeChannelAnswer = DeleteNoticeChannelMutation['deleteNoticeChannel'];

/** What `testNoticeChannel` answers. */
export type TestNoticeChannelAnswer = TestNoticeChannelMutation['testNoticeChannel'];

/** What `listAccessTokens` answers. */
export type ListAccessTokensAnswer = Below<ListAccessTokensQuery['account'], 'accessTokens'>;

/** What `createAccessToken` answers. */
export type CreateAccessTokenAnswer = CreateAccessTokenMutation['createAccessToken'];

/** What `revokeAccessToken` answers. */
export type RevokeAccessTokenAnswer = RevokeAccessTokenMutation['revokeAccessToken'];

/** What `createAccountExport` answers. */
export type CreateAccountExportAnswer = CreateAccountExportMutation['createAccountExport'];

/** What `eraseAccount` answers. */
export type EraseAccountAnswer = EraseAccountMutation['eraseAccount'];

/** What `operatorViews` answers. */
export type OperatorViewsAnswer = Below<OperatorViewsQuery['account'], 'operatorViews'>;

/** What `margins` answers. */
export type MarginsAnswer = MarginsQuery['operator']['margins'];

/** What `revenue` answers. */
export type RevenueAnswer = RevenueQuery['operator']['revenue'];

/** What `shortfalls` answers. */
export type ShortfallsAnswer = ShortfallsQuery['operator']['shortfalls'];

/** What `vendorComparison` answers. */
export type VendorComparisonAnswer = VendorComparisonQuery['operator']['vendorComparison'];

/** What `differingRequests` answers. */
export type DifferingRequestsAnswer = DifferingRequestsQuery['operator']['vendorComparison'];

/** What `listVendorFiles` answers. */
export type ListVendorFilesAnswer = ListVendorFilesQuery['operator']['vendorFiles'];

/** What `listRefunds` answers. */
export type ListRefundsAnswer = ListRefundsQuery['operator']['refunds'];

/** What `refundOrder` answers. */
export type RefundOrderAnswer = RefundOrderMutation['refundOrder'];

/** What `refundTransfer` answers. */
export type RefundTransferAnswer = RefundTransferMutation['refundTransfer'];

/** What `payRefund` answers. */
export type PayRefundAnswer = PayRefundMutation['payRefund'];

/** What `undoRefund` answers. */
export type UndoRefundAnswer = UndoRefundMutation['undoRefund'];

/** What `undoVendorImport` answers. */
export type UndoVendorImportAnswer = UndoVendorImportMutation['undoVendorImport'];

/** What `createBookPaperDownload` answers. */
export type CreateBookPaperDownloadAnswer = CreateBookPaperDownloadMutation['createBookPaperDownload'];

/** What `vendorBills` answers. */
export type VendorBillsAnswer = VendorBillsQuery['operator']['vendorBills'];

/** What `nextMonthToClose` answers. */
export type NextMonthToCloseAnswer = NextMonthToCloseQuery['operator']['nextMonthToClose'];

/** What `closedMonths` answers. */
export type ClosedMonthsAnswer = ClosedMonthsQuery['operator']['closedMonths'];

/** What `importVendorUsage` answers. */
export type ImportVendorUsageAnswer = ImportVendorUsageMutation['importVendorUsage'];

/** What `closeMonth` answers. */
export type CloseMonthAnswer = CloseMonthMutation['closeMonth'];

/** What `createBooksDownload` answers. */
export type CreateBooksDownloadAnswer = CreateBooksDownloadMutation['createBooksDownload'];

/** What `refundQuote` answers. */
export type RefundQuoteAnswer = RefundQuoteQuery['operator']['refundQuote'];

/** What `bookSettings` answers. */
export type BookSettingsAnswer = BookSettingsQuery['operator'];

/** What `setExchangeRate` answers. */
export type SetExchangeRateAnswer = SetExchangeRateMutation['setExchangeRate'];

/** What `setBookTaxes` answers. */
export type SetBookTaxesAnswer = SetBookTaxesMutation['setBookTaxes'];

/** What `saveJournalAccounts` answers. */
export type SaveJournalAccountsAnswer = SaveJournalAccountsMutation['saveJournalAccounts'];

/** What `models` answers. */
export type ModelsAnswer = ModelsQuery['models'];

/** What `model` answers. */
export type ModelAnswer = ModelQuery['model'];

/** What `listKeys` answers. */
export type ListKeysAnswer = Below<ListKeysQuery['account'], 'keys'>;

/** What `findKey` answers. */
export type FindKeyAnswer = FindKeyQuery['node'];

/** What `createKey` answers. */
export type CreateKeyAnswer = CreateKeyMutation['createKey'];

/** What `updateKey` answers. */
export type UpdateKeyAnswer = UpdateKeyMutation['updateKey'];

/** What `rotateKey` answers. */
export type RotateKeyAnswer = RotateKeyMutation['rotateKey'];

/** What `deleteKey` answers. */
export type DeleteKeyAnswer = DeleteKeyMutation['deleteKey'];

/** What `listProjects` answers. */
export type ListProjectsAnswer = Below<ListProjectsQuery['account'], 'projects'>;

/** What `project` answers. */
export type ProjectAnswer = ProjectQuery['node'];

/** What `memberSpend` answers. */
export type MemberSpendAnswer = Below<MemberSpendQuery['account'], 'memberSpend'>;

/** What `setMemberBudget` answers. */
export type SetMemberBudgetAnswer = SetMemberBudgetMutation['setMemberBudget'];

/** What `createProject` answers. */
export type CreateProjectAnswer = CreateProjectMutation['createProject'];

/** What `updateProject` answers. */
export type UpdateProjectAnswer = UpdateProjectMutation['updateProject'];

/** What `estimate` answers. */
export type EstimateAnswer = EstimateQuery['estimate'];

/** What `listEntries` answers. */
export type ListEntriesAnswer = Below<ListEntriesQuery['account'], 'ledger'>;

/** What `entry` answers. */
export type EntryAnswer = Below<EntryQuery['account'], 'ledgerEntry'>;

/** What `usage` answers. */
export type UsageAnswer = Below<UsageQuery['account'], 'usage'>;

/** What `latency` answers. */
export type LatencyAnswer = Below<LatencyQuery['account'], 'latency'>;

/** What `attributedUsage` answers. */
export type AttributedUsageAnswer = Below<AttributedUsageQuery['account'], 'attributedUsage'>;

/** What `budget` answers. */
export type BudgetAnswer = Below<BudgetQuery['account'], 'budget'>;

/** What `cacheSavings` answers. */
export type CacheSavingsAnswer = Below<CacheSavingsQuery['account'], 'cacheSavings'>;

/** What `createLedgerDownload` answers. */
export type CreateLedgerDownloadAnswer = CreateLedgerDownloadMutation['createLedgerDownload'];

/** What `budgetChanged` answers. */
export type BudgetChangedAnswer = BudgetChangedSubscription['budgetChanged'];

/** What `ledgerAppended` answers. */
export type LedgerAppendedAnswer = LedgerAppendedSubscription['ledgerAppended'];

/** What `archivedMonths` answers. */
export type ArchivedMonthsAnswer = Below<ArchivedMonthsQuery['account'], 'archivedMonths'>;

/** What `listBatches` answers. */
export type ListBatchesAnswer = Below<ListBatchesQuery['account'], 'batches'>;

/** What `findBatch` answers. */
export type FindBatchAnswer = FindBatchQuery['node'];

/** What `cancelBatch` answers. */
export type CancelBatchAnswer = CancelBatchMutation['cancelBatch'];

/** What `machineLogin` answers. */
export type MachineLoginAnswer = MachineLoginQuery['machineLogin'];

/** What `approveMachineLogin` answers. */
export type ApproveMachineLoginAnswer = ApproveMachineLoginMutation['approveMachineLogin'];

/** What `denyMachineLogin` answers. */
export type DenyMachineLoginAnswer = DenyMachineLoginMutation['denyMachineLogin'];

/** What `accountForOperator` answers. */
export type AccountForOperatorAnswer = AccountForOperatorQuery['operator']['account'];

/** What `listAccounts` answers. */
export type ListAccountsAnswer = ListAccountsQuery['operator']['accounts'];

/** What `listAnomalies` answers. */
export type ListAnomaliesAnswer = ListAnomaliesQuery['operator']['anomalies'];

/** What `listModelMismatches` answers. */
export type ListModelMismatchesAnswer = ListModelMismatchesQuery['operator']['modelMismatches'];

/** What `closeModelMismatch` answers. */
export type CloseModelMismatchAnswer = CloseModelMismatchMutation['closeModelMismatch'];

/** What `auditLog` answers. */
export type AuditLogAnswer = AuditLogQuery['operator']['auditLog'];

/** What `holds` answers. */
export type HoldsAnswer = HoldsQuery['operator']['holds'];

/** What `invariants` answers. */
export type InvariantsAnswer = InvariantsQuery['operator']['invariants'];

/** What `catalog` answers. */
export type CatalogAnswer = CatalogQuery['operator']['models'];

/** What `vendorProfiles` answers. */
export type VendorProfilesAnswer = VendorProfilesQuery['operator']['vendorProfiles'];

/** What `upstreams` answers. */
export type UpstreamsAnswer = UpstreamsQuery['operator']['upstreams'];

/** What `giveGrant` answers. */
export type GiveGrantAnswer = GiveGrantMutation['giveGrant'];

/** What `endGrant` answers. */
export type EndGrantAnswer = EndGrantMutation['endGrant'];

/** What `openAccount` answers. */
export type OpenAccountAnswer = OpenAccountMutation['openAccount'];

/** What `vendors` answers. */
export type VendorsAnswer = VendorsQuery['operator']['vendors'];

/** What `setup` answers. */
export type SetupAnswer = SetupQuery['operator']['setup'];

/** What `testVendorKey` answers. */
export type TestVendorKeyAnswer = TestVendorKeyMutation['testVendorKey'];

/** What `addVendor` answers. */
export type AddVendorAnswer = AddVendorMutation['addVendor'];

/** What `discoverVendor` answers. */
export type DiscoverVendorAnswer = DiscoverVendorMutation['discoverVendor'];

/** What `addUpstreamModels` answers. */
export type AddUpstreamModelsAnswer = AddUpstreamModelsMutation['addUpstreamModels'];

/** What `failures` answers. */
export type FailuresAnswer = FailuresQuery['operator']['failures'];

/** What `operatorSettings` answers. */
export type OperatorSettingsAnswer = OperatorSettingsQuery['operator']['settings'];

/** What `saveSettings` answers. */
export type SaveSettingsAnswer = SaveSettingsMutation['saveSettings'];

/** What `testSettings` answers. */
export type TestSettingsAnswer = TestSettingsMutation['testSettings'];

/** What `listOperators` answers. */
export type ListOperatorsAnswer = ListOperatorsQuery['operator']['operators'];

/** What `setOperator` answers. */
export type SetOperatorAnswer = SetOperatorMutation['setOperator'];

/** What `timeline` answers. */
export type TimelineAnswer = TimelineQuery['operator']['timeline'];

/** What `addAccountNote` answers. */
export type AddAccountNoteAnswer = AddAccountNoteMutation['addAccountNote'];

/** What `revokeKey` answers. */
export type RevokeKeyAnswer = RevokeKeyMutation['revokeKey'];

/** What `setAccountStatus` answers. */
export type SetAccountStatusAnswer = SetAccountStatusMutation['setAccountStatus'];

/** What `saveModel` answers. */
export type SaveModelAnswer = SaveModelMutation['saveModel'];

/** What `setModelEnabled` answers. */
export type SetModelEnabledAnswer = SetModelEnabledMutation['setModelEnabled'];

/** What `savePrices` answers. */
export type SavePricesAnswer = SavePricesMutation['savePrices'];

/** What `setRoutes` answers. */
export type SetRoutesAnswer = SetRoutesMutation['setRoutes'];

/** What `testRoute` answers. */
export type TestRouteAnswer = TestRouteMutation['testRoute'];

/** What `saveUpstream` answers. */
export type SaveUpstreamAnswer = SaveUpstreamMutation['saveUpstream'];

/** What `setUpstreamEnabled` answers. */
export type SetUpstreamEnabledAnswer = SetUpstreamEnabledMutation['setUpstreamEnabled'];

/** What `addUpstreamKey` answers. */
export type AddUpstreamKeyAnswer = AddUpstreamKeyMutation['addUpstreamKey'];

/** What `deleteUpstreamKey` answers. */
export type DeleteUpstreamKeyAnswer = DeleteUpstreamKeyMutation['deleteUpstreamKey'];

/** What `searchOrders` answers. */
export type SearchOrdersAnswer = SearchOrdersQuery['operator']['orders'];

/** What `listAllPlans` answers. */
export type ListAllPlansAnswer = ListAllPlansQuery['operator']['plans'];

/** What `listBankTransfers` answers. */
export type ListBankTransfersAnswer = ListBankTransfersQuery['operator']['bankTransfers'];

/** What `findOrdersToMatch` answers. */
export type FindOrdersToMatchAnswer = FindOrdersToMatchQuery['operator']['orders'];

/** What `transferProposals` answers. */
export type TransferProposalsAnswer = TransferProposalsQuery['node'];

/** What `undoTransferMatch` answers. */
export type UndoTransferMatchAnswer = UndoTransferMatchMutation['undoTransferMatch'];

/** What `creditTransfer` answers. */
export type CreditTransferAnswer = CreditTransferMutation['creditTransfer'];

/** What `matchTransfer` answers. */
export type MatchTransferAnswer = MatchTransferMutation['matchTransfer'];

/** What `recordTransfer` answers. */
export type RecordTransferAnswer = RecordTransferMutation['recordTransfer'];

/** What `closeTransferReview` answers. */
export type CloseTransferReviewAnswer = CloseTransferReviewMutation['closeTransferReview'];

/** What `savePlan` answers. */
export type SavePlanAnswer = SavePlanMutation['savePlan'];

/** What `probing` answers. */
export type ProbingAnswer = ProbingQuery['operator'];

/** What `createProbeAgent` answers. */
export type CreateProbeAgentAnswer = CreateProbeAgentMutation['createProbeAgent'];

/** What `revokeProbeAgent` answers. */
export type RevokeProbeAgentAnswer = RevokeProbeAgentMutation['revokeProbeAgent'];

/** What `saveProbing` answers. */
export type SaveProbingAnswer = SaveProbingMutation['saveProbing'];

/** What `addStatusUpdate` answers. */
export type AddStatusUpdateAnswer = AddStatusUpdateMutation['addStatusUpdate'];

/** What `announce` answers. */
export type AnnounceAnswer = AnnounceMutation['announce'];

/** What `endAnnouncement` answers. */
export type EndAnnouncementAnswer = EndAnnouncementMutation['endAnnouncement'];

/** What `accountMembers` answers. */
export type AccountMembersAnswer = Below<AccountMembersQuery['operator']['account'], 'members'>;

/** What `accountLimitsForOperator` answers. */
export type AccountLimitsForOperatorAnswer = Below<AccountLimitsForOperatorQuery['operator']['account'], 'limits'>;

/** What `accountUsage` answers. */
export type AccountUsageAnswer = Below<AccountUsageQuery['operator']['account'], 'usage'>;

/** What `accountKeys` answers. */
export type AccountKeysAnswer = Below<AccountKeysQuery['operator']['account'], 'keys'>;

/** What `accountOrders` answers. */
export type AccountOrdersAnswer = Below<AccountOrdersQuery['operator']['account'], 'orders'>;

/** What `accountEntries` answers. */
export type AccountEntriesAnswer = Below<AccountEntriesQuery['operator']['account'], 'ledger'>;

/** What `accountEntry` answers. */
export type AccountEntryAnswer = Below<AccountEntryQuery['operator']['account'], 'ledgerEntry'>;

/** What `business` answers. */
export type BusinessAnswer = BusinessQuery['operator']['business'];

/** What `search` answers. */
export type SearchAnswer = SearchQuery['operator']['search'];

/** What `saveSeller` answers. */
export type SaveSellerAnswer = SaveSellerMutation['saveSeller'];

/** What `listBusinessNotices` answers. */
export type ListBusinessNoticesAnswer = ListBusinessNoticesQuery['operator']['notices'];

/** What `businessNoticeSettings` answers. */
export type BusinessNoticeSettingsAnswer = BusinessNoticeSettingsQuery['operator']['noticeSettings'];

/** What `updateBusinessNoticeSettings` answers. */
export type UpdateBusinessNoticeSettingsAnswer = UpdateBusinessNoticeSettingsMutation['updateBusinessNoticeSettings'];

/** What `listBusinessChannels` answers. */
export type ListBusinessChannelsAnswer = ListBusinessChannelsQuery['operator']['noticeChannels'];

/** What `createBusinessChannel` answers. */
export type CreateBusinessChannelAnswer = CreateBusinessChannelMutation['createBusinessChannel'];

/** What `updateBusinessChannel` answers. */
export type UpdateBusinessChannelAnswer = UpdateBusinessChannelMutation['updateBusinessChannel'];

/** What `deleteBusinessChannel` answers. */
export type DeleteBusinessChannelAnswer = DeleteBusinessChannelMutation['deleteBusinessChannel'];

/** What `testBusinessChannel` answers. */
export type TestBusinessChannelAnswer = TestBusinessChannelMutation['testBusinessChannel'];

/** What `invoiceProblems` answers. */
export type InvoiceProblemsAnswer = InvoiceProblemsQuery['operator']['invoiceProblems'];

/** What `retryInvoice` answers. */
export type RetryInvoiceAnswer = RetryInvoiceMutation['retryInvoice'];

/** What `codeBatches` answers. */
export type CodeBatchesAnswer = CodeBatchesQuery['operator']['codeBatches'];

/** What `codeRedemptions` answers. */
export type CodeRedemptionsAnswer = CodeRedemptionsQuery['operator']['codeRedemptions'];

/** What `createCodes` answers. */
export type CreateCodesAnswer = CreateCodesMutation['createCodes'];

/** What `revokeCodes` answers. */
export type RevokeCodesAnswer = RevokeCodesMutation['revokeCodes'];

/** What `saveTopUp` answers. */
export type SaveTopUpAnswer = SaveTopUpMutation['saveTopUp'];

/** What `saveBonusSteps` answers. */
export type SaveBonusStepsAnswer = SaveBonusStepsMutation['saveBonusSteps'];

/** What `beginAccountView` answers. */
export type BeginAccountViewAnswer = BeginAccountViewMutation['beginAccountView'];

/** What `shop` answers. */
export type ShopAnswer = ShopQuery['shop'];

/** What `plans` answers. */
export type PlansAnswer = PlansQuery['plans'];

/** What `order` answers. */
export type OrderAnswer = OrderQuery['order'];

/** What `listOrders` answers. */
export type ListOrdersAnswer = Below<ListOrdersQuery['account'], 'orders'>;

/** What `createOrder` answers. */
export type CreateOrderAnswer = CreateOrderMutation['createOrder'];

/** What `cancelOrder` answers. */
export type CancelOrderAnswer = CancelOrderMutation['cancelOrder'];

/** What `orderStatus` answers. */
export type OrderStatusAnswer = OrderStatusSubscription['orderStatus'];

/** What `seller` answers. */
export type SellerAnswer = SellerQuery['seller'];

/** What `company` answers. */
export type CompanyAnswer = CompanyQuery['account'];

/** What `setCompany` answers. */
export type SetCompanyAnswer = SetCompanyMutation['setCompany'];

/** What `statements` answers. */
export type StatementsAnswer = StatementsQuery['account'];

/** What `statement` answers. */
export type StatementAnswer = StatementQuery['account'];

/** What `bonusSteps` answers. */
export type BonusStepsAnswer = BonusStepsQuery['bonusSteps'];

/** What `topUp` answers. */
export type TopUpAnswer = TopUpQuery['topUp'];

/** What `redeemCode` answers. */
export type RedeemCodeAnswer = RedeemCodeMutation['redeemCode'];

/** What `me` answers. */
export type MeAnswer = MeQuery['me'];

/** What `signInMethods` answers. */
export type SignInMethodsAnswer = SignInMethodsQuery['signInMethods'];

/** What `signUp` answers. */
export type SignUpAnswer = SignUpMutation['signUp'];

/** What `resendVerification` answers. */
export type ResendVerificationAnswer = ResendVerificationMutation['resendVerification'];

/** What `verifyEmail` answers. */
export type VerifyEmailAnswer = VerifyEmailMutation['verifyEmail'];

/** What `signIn` answers. */
export type SignInAnswer = SignInMutation['signIn'];

/** What `signInWithCode` answers. */
export type SignInWithCodeAnswer = SignInWithCodeMutation['signInWithCode'];

/** What `beginPasskeySignIn` answers. */
export type BeginPasskeySignInAnswer = BeginPasskeySignInMutation['beginPasskeySignIn'];

/** What `signInWithPasskey` answers. */
export type SignInWithPasskeyAnswer = SignInWithPasskeyMutation['signInWithPasskey'];

/** What `signOut` answers. */
export type SignOutAnswer = SignOutMutation['signOut'];

/** What `requestPasswordReset` answers. */
export type RequestPasswordResetAnswer = RequestPasswordResetMutation['requestPasswordReset'];

/** What `resetPassword` answers. */
export type ResetPasswordAnswer = ResetPasswordMutation['resetPassword'];

/** What `changePassword` answers. */
export type ChangePasswordAnswer = ChangePasswordMutation['changePassword'];

/** What `changeEmail` answers. */
export type ChangeEmailAnswer = ChangeEmailMutation['changeEmail'];

/** What `updateProfile` answers. */
export type UpdateProfileAnswer = UpdateProfileMutation['updateProfile'];

/** What `beginSecondFactor` answers. */
export type BeginSecondFactorAnswer = BeginSecondFactorMutation['beginSecondFactor'];

/** What `confirmSecondFactor` answers. */
export type ConfirmSecondFactorAnswer = ConfirmSecondFactorMutation['confirmSecondFactor'];

/** What `disableSecondFactor` answers. */
export type DisableSecondFactorAnswer = DisableSecondFactorMutation['disableSecondFactor'];

/** What `renewBackupCodes` answers. */
export type RenewBackupCodesAnswer = RenewBackupCodesMutation['renewBackupCodes'];

/** What `revokeSession` answers. */
export type RevokeSessionAnswer = RevokeSessionMutation['revokeSession'];

/** What `revokeOtherSessions` answers. */
export type RevokeOtherSessionsAnswer = RevokeOtherSessionsMutation['revokeOtherSessions'];

/** What `listPasskeys` answers. */
export type ListPasskeysAnswer = Below<ListPasskeysQuery['me'], 'passkeys'>;

/** What `beginPasskey` answers. */
export type BeginPasskeyAnswer = BeginPasskeyMutation['beginPasskey'];

/** What `addPasskey` answers. */
export type AddPasskeyAnswer = AddPasskeyMutation['addPasskey'];

/** What `renamePasskey` answers. */
export type RenamePasskeyAnswer = RenamePasskeyMutation['renamePasskey'];

/** What `removePasskey` answers. */
export type RemovePasskeyAnswer = RemovePasskeyMutation['removePasskey'];

/** What `listIdentities` answers. */
export type ListIdentitiesAnswer = Below<ListIdentitiesQuery['me'], 'identities'>;

/** What `removeIdentity` answers. */
export type RemoveIdentityAnswer = RemoveIdentityMutation['removeIdentity'];

/** What `requestIdentityLink` answers. */
export type RequestIdentityLinkAnswer = RequestIdentityLinkMutation['requestIdentityLink'];

/** What `linkIdentity` answers. */
export type LinkIdentityAnswer = LinkIdentityMutation['linkIdentity'];

/** What `serviceStatus` answers. */
export type ServiceStatusAnswer = ServiceStatusQuery['status'];

/** What `serviceState` answers. */
export type ServiceStateAnswer = ServiceStateQuery['status'];

/** What `uptime` answers. */
export type UptimeAnswer = UptimeQuery['uptime'];

/** What `listIncidents` answers. */
export type ListIncidentsAnswer = ListIncidentsQuery['incidents'];

/** What `listEndpoints` answers. */
export type ListEndpointsAnswer = Below<ListEndpointsQuery['account'], 'webhookEndpoints'>;

/** What `createWebhookEndpoint` answers. */
export type CreateWebhookEndpointAnswer = CreateWebhookEndpointMutation['createWebhookEndpoint'];

/** What `updateWebhookEndpoint` answers. */
export type UpdateWebhookEndpointAnswer = UpdateWebhookEndpointMutation['updateWebhookEndpoint'];

/** What `deleteWebhookEndpoint` answers. */
export type DeleteWebhookEndpointAnswer = DeleteWebhookEndpointMutation['deleteWebhookEndpoint'];

/** What `rotateWebhookSecret` answers. */
export type RotateWebhookSecretAnswer = RotateWebhookSecretMutation['rotateWebhookSecret'];

/** What `sendTestWebhook` answers. */
export type SendTestWebhookAnswer = SendTestWebhookMutation['sendTestWebhook'];

/** What `replayWebhookDelivery` answers. */
export type ReplayWebhookDeliveryAnswer = ReplayWebhookDeliveryMutation['replayWebhookDelivery'];

/** What `listDeliveries` answers. */
export type ListDeliveriesAnswer = Narrowed<ListDeliveriesQuery['node'], 'deliveries'>;

/** Operations on accounts. */
export interface ConsoleAccounts {
  /**
   * One of your accounts; null: you have none with this id.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.account();
   * ```
   */
  account(variables?: AccountQueryVariables, options?: RequestOptions): Pending<AccountAnswer>;
  /**
   * The limits that it sets itself.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.accountLimits();
   * ```
   */
  accountLimits(variables?: AccountLimitsQueryVariables, options?: RequestOptions): Pending<AccountLimitsAnswer>;
  /**
   * Sets the limits of an account over all its keys, one’s own or, for operators who handle money, any. They count from the very next request on.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.setAccountLimits({ input: {} });
   * ```
   */
  setAccountLimits(variables: SetAccountLimitsMutationVariables, options?: RequestOptions): Pending<SetAccountLimitsAnswer>;
  /**
   * What is stored of whom its requests are for.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.attributionMode();
   * ```
   */
  attributionMode(variables?: AttributionModeQueryVariables, options?: RequestOptions): Pending<AttributionModeAnswer>;
  /**
   * Sets what is stored of whom requests are for, from the next request on. What is stored already stays as it is.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.setAttributionMode({ input: { mode: 'DIGESTS' } });
   * ```
   */
  setAttributionMode(variables: SetAttributionModeMutationVariables, options?: RequestOptions): Pending<SetAttributionModeAnswer>;
  /**
   * Any object by its global id; null when there is none that you may see.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.node({ id: id });
   * ```
   */
  node(variables: NodeQueryVariables, options?: RequestOptions): Pending<NodeAnswer>;
  /**
   * Who belongs to the account, the longest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.listMembers();
   * ```
   */
  listMembers(variables?: ListMembersQueryVariables, options?: RequestOptions): Pending<ListMembersAnswer>;
  /**
   * Open invitations, newest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.listInvitations();
   * ```
   */
  listInvitations(variables?: ListInvitationsQueryVariables, options?: RequestOptions): Pending<ListInvitationsAnswer>;
  /**
   * Asks somebody by mail to join an account. Asking again sends a new link.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.inviteMember({ email: 'email', role: 'ADMIN' });
   * ```
   */
  inviteMember(variables: InviteMemberMutationVariables, options?: RequestOptions): Pending<InviteMemberAnswer>;
  /**
   * Joins an account with the link of a mail. Only for the person who signs in with the invited address.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.acceptInvitation({ token: token });
   * ```
   */
  acceptInvitation(variables: AcceptInvitationMutationVariables, options?: RequestOptions): Pending<AcceptInvitationAnswer>;
  /**
   * Takes an invitation back.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.revokeInvitation({ id: id });
   * ```
   */
  revokeInvitation(variables: RevokeInvitationMutationVariables, options?: RequestOptions): Pending<RevokeInvitationAnswer>;
  /**
   * Changes what a person may do in an account.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.setMemberRole({ id: id, role: 'ADMIN' });
   * ```
   */
  setMemberRole(variables: SetMemberRoleMutationVariables, options?: RequestOptions): Pending<SetMemberRoleAnswer>;
  /**
   * Removes a person from an account, with their personal keys and the access tokens they made for it; `keys` says what becomes of other keys that they have seen. A mail to the owners names those. Everybody may remove themselves.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.removeMember({ id: id });
   * ```
   */
  removeMember(variables: RemoveMemberMutationVariables, options?: RequestOptions): Pending<RemoveMemberAnswer>;
  /**
   * Notices of the account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.accounts.listNotices()) console.log(each);
   * ```
   */
  listNotices(variables?: ListNoticesQueryVariables, options?: RequestOptions): Paged<ListNoticesAnswer>;
  /**
   * What the account gets notices of, and when.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.noticeSettings();
   * ```
   */
  noticeSettings(variables?: NoticeSettingsQueryVariables, options?: RequestOptions): Pending<NoticeSettingsAnswer>;
  /**
   * Chooses what an account gets notices of, and when.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.updateNoticeSettings({ input: { lowBalance: '10', mail: true } });
   * ```
   */
  updateNoticeSettings(variables: UpdateNoticeSettingsMutationVariables, options?: RequestOptions): Pending<UpdateNoticeSettingsAnswer>;
  /**
   * Where notices of the account are sent, beside mail and webhooks.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.listNoticeChannels();
   * ```
   */
  listNoticeChannels(variables?: ListNoticeChannelsQueryVariables, options?: RequestOptions): Pending<ListNoticeChannelsAnswer>;
  /**
   * Adds a channel for the notices of an account. Its secret is sealed and never shown.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.createNoticeChannel({ input: { kind: 'DISCORD', name: 'name', secret: secret } });
   * ```
   */
  createNoticeChannel(variables: CreateNoticeChannelMutationVariables, options?: RequestOptions): Pending<CreateNoticeChannelAnswer>;
  /**
   * Changes a channel of an account, or switches it on or off.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.updateNoticeChannel({ input: { id: id } });
   * ```
   */
  updateNoticeChannel(variables: UpdateNoticeChannelMutationVariables, options?: RequestOptions): Pending<UpdateNoticeChannelAnswer>;
  /**
   * Removes a channel of an account with its secret.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.deleteNoticeChannel({ id: id });
   * ```
   */
  deleteNoticeChannel(variables: DeleteNoticeChannelMutationVariables, options?: RequestOptions): Pending<DeleteNoticeChannelAnswer>;
  /**
   * Sends a message to a channel now. `problem` says why it did not arrive. At most one in five seconds.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.testNoticeChannel({ id: id });
   * ```
   */
  testNoticeChannel(variables: TestNoticeChannelMutationVariables, options?: RequestOptions): Pending<TestNoticeChannelAnswer>;
  /**
   * Access tokens of the account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.accounts.listAccessTokens()) console.log(each);
   * ```
   */
  listAccessTokens(variables?: ListAccessTokensQueryVariables, options?: RequestOptions): Paged<ListAccessTokensAnswer>;
  /**
   * Makes an access token. Only people can, with scopes for what they may do themselves; the scope `operator` takes a sign-in in the last 10 minutes.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.createAccessToken({ input: { name: 'name', scopes: ['BILLING'] } });
   * ```
   */
  createAccessToken(variables: CreateAccessTokenMutationVariables, options?: RequestOptions): Pending<CreateAccessTokenAnswer>;
  /**
   * Deletes an access token: it opens nothing from now on.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.revokeAccessToken({ id: id });
   * ```
   */
  revokeAccessToken(variables: RevokeAccessTokenMutationVariables, options?: RequestOptions): Pending<RevokeAccessTokenAnswer>;
  /**
   * Makes a link to an export of an account as lines of JSON: its members, keys, settings, orders, grants and ledger. For persons who manage its members; at most 10 a day.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.createAccountExport();
   * ```
   */
  createAccountExport(variables?: CreateAccountExportMutationVariables, options?: RequestOptions): Pending<CreateAccountExportAnswer>;
  /**
   * Forgets an account and its people for good; only an owner may, and an operator who is one of the service. Keys stop working, what is left of the budget is lost. The books stay without names, as law requires. Its owners get a mail. Asks for the password or a one-time code; of people who have neither, for a sign-in less than 10 minutes ago.
   *
   * @example
   * ```ts
   * const result = await steyg.console.accounts.eraseAccount({ accountId: 'account-id', email: 'email' });
   * ```
   */
  eraseAccount(variables: EraseAccountMutationVariables, options?: RequestOptions): Pending<EraseAccountAnswer>;
  /**
   * The looks that operators took at this account, newest first. For those who manage its members.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.accounts.operatorViews()) console.log(each);
   * ```
   */
  operatorViews(variables?: OperatorViewsQueryVariables, options?: RequestOptions): Paged<OperatorViewsAnswer>;
}

/** Operations on books. */
export interface ConsoleBooks {
  /**
   * What is left of what customers were charged, by period, model, upstream and account: the newest period first, then by what was charged. Where a route does not say what it costs, the margin is unknown.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.margins()) console.log(each);
   * ```
   */
  margins(variables?: MarginsQueryVariables, options?: RequestOptions): Paged<MarginsAnswer>;
  /**
   * What customers were charged, what upstreams cost, what is left, by period and model: the newest period first, then by what was charged. Uptime is measured with an account of its own, which is not among them.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.revenue()) console.log(each);
   * ```
   */
  revenue(variables?: RevenueQueryVariables, options?: RequestOptions): Paged<RevenueAnswer>;
  /**
   * Requests that could not be charged in full, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.shortfalls()) console.log(each);
   * ```
   */
  shortfalls(variables?: ShortfallsQueryVariables, options?: RequestOptions): Paged<ShortfallsAnswer>;
  /**
   * What vendors say they billed beside the ledger, by day (UTC), the newest first, upstream and model, for the days that an imported file has.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.vendorComparison({ from: 'from', to: 'to' })) console.log(each);
   * ```
   */
  vendorComparison(variables: VendorComparisonQueryVariables, options?: RequestOptions): Paged<VendorComparisonAnswer>;
  /**
   * What vendors say they billed beside the ledger, by day (UTC), the newest first, upstream and model, for the days that an imported file has.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.differingRequests({ cause: 'COST_UNKNOWN', from: 'from', to: 'to' })) console.log(each);
   * ```
   */
  differingRequests(variables: DifferingRequestsQueryVariables, options?: RequestOptions): Paged<DifferingRequestsAnswer>;
  /**
   * Files of vendors that were imported, the newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.listVendorFiles()) console.log(each);
   * ```
   */
  listVendorFiles(variables?: ListVendorFilesQueryVariables, options?: RequestOptions): Paged<ListVendorFilesAnswer>;
  /**
   * Refunds, the newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.books.listRefunds()) console.log(each);
   * ```
   */
  listRefunds(variables?: ListRefundsQueryVariables, options?: RequestOptions): Paged<ListRefundsAnswer>;
  /**
   * Takes unused budget of a purchase back, at its own rate. Used budget stays used; `usedVnd` is paid back for it as well.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.refundOrder({ input: { note: 'note', orderId: 'order-id' } });
   * ```
   */
  refundOrder(variables: RefundOrderMutationVariables, options?: RequestOptions): Pending<RefundOrderAnswer>;
  /**
   * Sends back what a transfer brought beyond an order’s price, or for no order. It pays none any more.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.refundTransfer({ input: { note: 'note', transferId: 'transfer-id' } });
   * ```
   */
  refundTransfer(variables: RefundTransferMutationVariables, options?: RequestOptions): Pending<RefundTransferAnswer>;
  /**
   * Matches an outgoing transfer to a refund, where its text does not name the memo.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.payRefund({ refundId: 'refundId', transferId: 'transfer-id' });
   * ```
   */
  payRefund(variables: PayRefundMutationVariables, options?: RequestOptions): Pending<PayRefundAnswer>;
  /**
   * Undoes a refund that was a mistake, from now on: its budget returns to where it was taken, its credit note is cancelled and keeps the number, and transfers that paid it wait to be matched again.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.undoRefund({ input: { note: 'note', refundId: 'refundId' } });
   * ```
   */
  undoRefund(variables: UndoRefundMutationVariables, options?: RequestOptions): Pending<UndoRefundAnswer>;
  /**
   * Takes an imported file back: what counts is what the other files say.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.undoVendorImport({ fileId: 'fileId' });
   * ```
   */
  undoVendorImport(variables: UndoVendorImportMutationVariables, options?: RequestOptions): Pending<UndoVendorImportAnswer>;
  /**
   * Makes a link to a paper of a month as CSV; `&lang=en` or `&lang=vi` chooses the language. All but `PAPERS` are of closed months.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.createBookPaperDownload({ input: { month: 'month', paper: 'ADVANCES' } });
   * ```
   */
  createBookPaperDownload(variables: CreateBookPaperDownloadMutationVariables, options?: RequestOptions): Pending<CreateBookPaperDownloadAnswer>;
  /**
   * Upstreams in use, with the bills that were imported of each and the days without one.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.vendorBills();
   * ```
   */
  vendorBills(variables?: VendorBillsQueryVariables, options?: RequestOptions): Pending<VendorBillsAnswer>;
  /**
   * What the next close would freeze: the month after the latest close.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.nextMonthToClose();
   * ```
   */
  nextMonthToClose(variables?: NextMonthToCloseQueryVariables, options?: RequestOptions): Pending<NextMonthToCloseAnswer>;
  /**
   * Every closed month, the newest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.closedMonths();
   * ```
   */
  closedMonths(variables?: ClosedMonthsQueryVariables, options?: RequestOptions): Pending<ClosedMonthsAnswer>;
  /**
   * Takes in what a vendor says it billed; a file stands for its whole period, or (`add`) for its own days and models alone. What earlier files had and would be gone has to be `confirmed`. A file that cannot be read as a whole is refused.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.importVendorUsage({ input: { csv: 'csv', upstream: 'upstream' } });
   * ```
   */
  importVendorUsage(variables: ImportVendorUsageMutationVariables, options?: RequestOptions): Pending<ImportVendorUsageAnswer>;
  /**
   * Freezes the figures of a month that is over. Months are closed one after the other; this cannot be undone.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.closeMonth({ month: 'month' });
   * ```
   */
  closeMonth(variables: CloseMonthMutationVariables, options?: RequestOptions): Pending<CloseMonthAnswer>;
  /**
   * Makes a link to the closed months as CSV for an accountant.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.createBooksDownload();
   * ```
   */
  createBooksDownload(variables?: CreateBooksDownloadMutationVariables, options?: RequestOptions): Pending<CreateBooksDownloadAnswer>;
  /**
   * What a refund of a purchase would be now; null: so much cannot go back.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.refundQuote({ orderId: 'order-id' });
   * ```
   */
  refundQuote(variables: RefundQuoteQueryVariables, options?: RequestOptions): Pending<RefundQuoteAnswer>;
  /**
   * The operator’s side.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.bookSettings({ month: 'month' });
   * ```
   */
  bookSettings(variables: BookSettingsQueryVariables, options?: RequestOptions): Pending<BookSettingsAnswer>;
  /**
   * Sets what a USD costs in a month, or on a day. A month that is closed keeps its own.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.setExchangeRate({ input: { period: 'period', rate: 'rate', source: 'source' } });
   * ```
   */
  setExchangeRate(variables: SetExchangeRateMutationVariables, options?: RequestOptions): Pending<SetExchangeRateAnswer>;
  /**
   * Sets the taxes from a day on.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.setBookTaxes({ input: { foreignIncome: 1, foreignNet: true, foreignVat: 1, salesVat: 1, validFrom: 'validFrom' } });
   * ```
   */
  setBookTaxes(variables: SetBookTaxesMutationVariables, options?: RequestOptions): Pending<SetBookTaxesAnswer>;
  /**
   * Changes numbers of the accounts of the journal.
   *
   * @example
   * ```ts
   * const result = await steyg.console.books.saveJournalAccounts({ accounts: [{ number: 'number', role: 'ALLOWANCES' }] });
   * ```
   */
  saveJournalAccounts(variables: SaveJournalAccountsMutationVariables, options?: RequestOptions): Pending<SaveJournalAccountsAnswer>;
}

/** Operations on catalog. */
export interface ConsoleCatalog {
  /**
   * Every model that can be called at this moment.
   *
   * @example
   * ```ts
   * const result = await steyg.console.catalog.models();
   * ```
   */
  models(variables?: ModelsQueryVariables, options?: RequestOptions): Pending<ModelsAnswer>;
  /**
   * The model that a client means by this text, as the model endpoints understand it; null: none.
   *
   * @example
   * ```ts
   * const result = await steyg.console.catalog.model({ modelId: 'modelId' });
   * ```
   */
  model(variables: ModelQueryVariables, options?: RequestOptions): Pending<ModelAnswer>;
}

/** Operations on keys. */
export interface ConsoleKeys {
  /**
   * Keys of the account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.keys.listKeys()) console.log(each);
   * ```
   */
  listKeys(variables?: ListKeysQueryVariables, options?: RequestOptions): Paged<ListKeysAnswer>;
  /**
   * Any object by its global id; null when there is none that you may see.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.findKey({ id: id });
   * ```
   */
  findKey(variables: FindKeyQueryVariables, options?: RequestOptions): Pending<FindKeyAnswer>;
  /**
   * Makes a key. It works from the very next request on.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.createKey({ input: {} });
   * ```
   */
  createKey(variables: CreateKeyMutationVariables, options?: RequestOptions): Pending<CreateKeyAnswer>;
  /**
   * Renames, restricts or limits a key. Counts from the very next request on.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.updateKey({ input: { id: id } });
   * ```
   */
  updateKey(variables: UpdateKeyMutationVariables, options?: RequestOptions): Pending<UpdateKeyAnswer>;
  /**
   * Makes a key of the same name and terms; the old one goes on for a grace period.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.rotateKey({ id: id });
   * ```
   */
  rotateKey(variables: RotateKeyMutationVariables, options?: RequestOptions): Pending<RotateKeyAnswer>;
  /**
   * Deletes a key: from the very next request on it opens nothing. Running requests finish.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.deleteKey({ id: id });
   * ```
   */
  deleteKey(variables: DeleteKeyMutationVariables, options?: RequestOptions): Pending<DeleteKeyAnswer>;
  /**
   * Projects of the account by name, at most 200; archived ones last.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.listProjects();
   * ```
   */
  listProjects(variables?: ListProjectsQueryVariables, options?: RequestOptions): Pending<ListProjectsAnswer>;
  /**
   * Any object by its global id; null when there is none that you may see.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.project({ id: id });
   * ```
   */
  project(variables: ProjectQueryVariables, options?: RequestOptions): Pending<ProjectAnswer>;
  /**
   * What its people have spent through the keys that they made: everybody’s for owners, admins and tokens with the scope `BILLING`; one’s own for others. Only this summary with its budgets is restricted: who made a key and what it spent (`keys`, `usage`) can be seen by every reader of the account.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.memberSpend();
   * ```
   */
  memberSpend(variables?: MemberSpendQueryVariables, options?: RequestOptions): Pending<MemberSpendAnswer>;
  /**
   * Sets what the keys that a person made may spend in a month together. It counts from the very next request on, and stays when they leave, for the keys that stay.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.setMemberBudget({ input: { id: id } });
   * ```
   */
  setMemberBudget(variables: SetMemberBudgetMutationVariables, options?: RequestOptions): Pending<SetMemberBudgetAnswer>;
  /**
   * Makes a project.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.createProject({ input: { name: 'name' } });
   * ```
   */
  createProject(variables: CreateProjectMutationVariables, options?: RequestOptions): Pending<CreateProjectAnswer>;
  /**
   * Renames, limits or archives a project, or takes it into use again.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.updateProject({ input: { id: id } });
   * ```
   */
  updateProject(variables: UpdateProjectMutationVariables, options?: RequestOptions): Pending<UpdateProjectAnswer>;
  /**
   * What a request of a key would hold and cost, for those who manage the keys of the account. Nothing is sent, and nothing is held; it counts as a request of the key’s minute.
   *
   * @example
   * ```ts
   * const result = await steyg.console.keys.estimate({ body: 'body', format: 'CHAT_COMPLETIONS', keyId: 'key-id' });
   * ```
   */
  estimate(variables: EstimateQueryVariables, options?: RequestOptions): Pending<EstimateAnswer>;
}

/** Operations on ledger. */
export interface ConsoleLedger {
  /**
   * Finished requests. Sorted by anything but time, a list covers at most 100000 requests: narrow the filter’s range where there are more.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.ledger.listEntries()) console.log(each);
   * ```
   */
  listEntries(variables?: ListEntriesQueryVariables, options?: RequestOptions): Paged<ListEntriesAnswer>;
  /**
   * The entry of one request; null when there is none (yet). A request of an archived month is refused with a sentence.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.entry({ requestId: 'requestId' });
   * ```
   */
  entry(variables: EntryQueryVariables, options?: RequestOptions): Pending<EntryAnswer>;
  /**
   * Usage added up for a chart: the newest period first, then by model, key, outcome, project and maker.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.ledger.usage()) console.log(each);
   * ```
   */
  usage(variables?: UsageQueryVariables, options?: RequestOptions): Paged<UsageAnswer>;
  /**
   * How long requests took, by period, the oldest first; a period without completed requests is left out. At most 50000 requests, 8 days of hours and 100 days.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.latency({ from: '2026-12-31T00:00:00Z', period: 'DAY' });
   * ```
   */
  latency(variables: LatencyQueryVariables, options?: RequestOptions): Pending<LatencyAnswer>;
  /**
   * Usage added up by session, end user or tag, for what is within the retention. Requests that name none are in no row.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.ledger.attributedUsage({ by: 'SESSION' })) console.log(each);
   * ```
   */
  attributedUsage(variables: AttributedUsageQueryVariables, options?: RequestOptions): Paged<AttributedUsageAnswer>;
  /**
   * What the account may spend.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.budget();
   * ```
   */
  budget(variables?: BudgetQueryVariables, options?: RequestOptions): Pending<BudgetAnswer>;
  /**
   * What caching saved since a moment, by the prices of each request: context read from a cache at the price of new context, less what writing to caches cost beyond it. Requests that a budget did not cover in full saved nothing and are left out. Null: too many requests to add up at once.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.cacheSavings({ from: '2026-12-31T00:00:00Z' });
   * ```
   */
  cacheSavings(variables: CacheSavingsQueryVariables, options?: RequestOptions): Pending<CacheSavingsAnswer>;
  /**
   * Makes a link to the ledger as CSV.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.createLedgerDownload();
   * ```
   */
  createLedgerDownload(variables?: CreateLedgerDownloadMutationVariables, options?: RequestOptions): Pending<CreateLedgerDownloadAnswer>;
  /**
   * The budget of an account as it is now, and again when it has changed; at most once in a second.
   *
   * @example
   * ```ts
   * for await (const event of steyg.console.ledger.budgetChanged()) console.log(event);
   * ```
   */
  budgetChanged(variables?: BudgetChangedSubscriptionVariables, options?: RequestOptions): Subscription<BudgetChangedAnswer>;
  /**
   * Requests of an account as they finish, each once, while they are among the 20 that began last. The ledger has all.
   *
   * @example
   * ```ts
   * for await (const event of steyg.console.ledger.ledgerAppended()) console.log(event);
   * ```
   */
  ledgerAppended(variables?: LedgerAppendedSubscriptionVariables, options?: RequestOptions): Subscription<LedgerAppendedAnswer>;
  /**
   * Months without single requests in `ledger`, because they were archived; the oldest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.archivedMonths();
   * ```
   */
  archivedMonths(variables?: ArchivedMonthsQueryVariables, options?: RequestOptions): Pending<ArchivedMonthsAnswer>;
  /**
   * Batches, the newest first. Deleted ones are left out.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.ledger.listBatches()) console.log(each);
   * ```
   */
  listBatches(variables?: ListBatchesQueryVariables, options?: RequestOptions): Paged<ListBatchesAnswer>;
  /**
   * Any object by its global id; null when there is none that you may see.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.findBatch({ id: id });
   * ```
   */
  findBatch(variables: FindBatchQueryVariables, options?: RequestOptions): Pending<FindBatchAnswer>;
  /**
   * Asks the vendor to stop a batch. What it answered before is charged; what is held for the rest is free again when the batch has ended. A batch that has ended stays as it is.
   *
   * @example
   * ```ts
   * const result = await steyg.console.ledger.cancelBatch({ id: id });
   * ```
   */
  cancelBatch(variables: CancelBatchMutationVariables, options?: RequestOptions): Pending<CancelBatchAnswer>;
}

/** Operations on machines. */
export interface ConsoleMachines {
  /**
   * The machine that shows this code. Asking is limited, because codes are short.
   *
   * @example
   * ```ts
   * const result = await steyg.console.machines.machineLogin({ code: 'code' });
   * ```
   */
  machineLogin(variables: MachineLoginQueryVariables, options?: RequestOptions): Pending<MachineLoginAnswer>;
  /**
   * Gives the machine a key of yours, which it fetches once; the code is used up. A mail says when it has.
   *
   * @example
   * ```ts
   * const result = await steyg.console.machines.approveMachineLogin({ input: { code: 'code', limits: {}, name: 'name' } });
   * ```
   */
  approveMachineLogin(variables: ApproveMachineLoginMutationVariables, options?: RequestOptions): Pending<ApproveMachineLoginAnswer>;
  /**
   * Refuses the machine, whose next poll says so. The code is used up.
   *
   * @example
   * ```ts
   * const result = await steyg.console.machines.denyMachineLogin({ code: 'code' });
   * ```
   */
  denyMachineLogin(variables: DenyMachineLoginMutationVariables, options?: RequestOptions): Pending<DenyMachineLoginAnswer>;
}

/** Operations on operator. */
export interface ConsoleOperator {
  /**
   * One account; null: there is none.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.accountForOperator({ id: id });
   * ```
   */
  accountForOperator(variables: AccountForOperatorQueryVariables, options?: RequestOptions): Pending<AccountForOperatorAnswer>;
  /**
   * Accounts, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.listAccounts()) console.log(each);
   * ```
   */
  listAccounts(variables?: ListAccountsQueryVariables, options?: RequestOptions): Paged<ListAccountsAnswer>;
  /**
   * Requests whose token counts were cut to what is possible, or estimated; newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.listAnomalies()) console.log(each);
   * ```
   */
  listAnomalies(variables?: ListAnomaliesQueryVariables, options?: RequestOptions): Paged<ListAnomaliesAnswer>;
  /**
   * Upstreams that answered with another model: open ones first, then those that were seen last.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.listModelMismatches()) console.log(each);
   * ```
   */
  listModelMismatches(variables?: ListModelMismatchesQueryVariables, options?: RequestOptions): Paged<ListModelMismatchesAnswer>;
  /**
   * Says that a mismatch is dealt with. When it is seen again, it is open again and operators are told.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.closeModelMismatch({ id: id });
   * ```
   */
  closeModelMismatch(variables: CloseModelMismatchMutationVariables, options?: RequestOptions): Pending<CloseModelMismatchAnswer>;
  /**
   * What was changed, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.auditLog()) console.log(each);
   * ```
   */
  auditLog(variables?: AuditLogQueryVariables, options?: RequestOptions): Paged<AuditLogAnswer>;
  /**
   * Holds of running requests, the oldest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.holds()) console.log(each);
   * ```
   */
  holds(variables?: HoldsQueryVariables, options?: RequestOptions): Paged<HoldsAnswer>;
  /**
   * Rules of the money that do not hold, for one account: none, when all is well.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.invariants({ accountId: 'account-id' });
   * ```
   */
  invariants(variables: InvariantsQueryVariables, options?: RequestOptions): Pending<InvariantsAnswer>;
  /**
   * Every model, switched off or not.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.catalog();
   * ```
   */
  catalog(variables?: CatalogQueryVariables, options?: RequestOptions): Pending<CatalogAnswer>;
  /**
   * The vendors that an upstream can name.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.vendorProfiles();
   * ```
   */
  vendorProfiles(variables?: VendorProfilesQueryVariables, options?: RequestOptions): Pending<VendorProfilesAnswer>;
  /**
   * Every upstream.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.upstreams();
   * ```
   */
  upstreams(variables?: UpstreamsQueryVariables, options?: RequestOptions): Pending<UpstreamsAnswer>;
  /**
   * Gives an account budget by hand.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.giveGrant({ input: { accountId: 'account-id', amount: '10', reason: 'reason' } });
   * ```
   */
  giveGrant(variables: GiveGrantMutationVariables, options?: RequestOptions): Pending<GiveGrantAnswer>;
  /**
   * Takes back what is unspent of a grant: it ends now. Running requests keep what they hold of it, and what they give back is lost too.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.endGrant({ input: { accountId: 'account-id', grantId: 'grant-id', reason: 'reason' } });
   * ```
   */
  endGrant(variables: EndGrantMutationVariables, options?: RequestOptions): Pending<EndGrantAnswer>;
  /**
   * Opens an account without a trial.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.openAccount({ input: { email: 'email' } });
   * ```
   */
  openAccount(variables: OpenAccountMutationVariables, options?: RequestOptions): Pending<OpenAccountAnswer>;
  /**
   * The vendors that the service knows.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.vendors();
   * ```
   */
  vendors(variables?: VendorsQueryVariables, options?: RequestOptions): Pending<VendorsAnswer>;
  /**
   * What the service needs before customers can pay for it, in the order of doing it.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.setup();
   * ```
   */
  setup(variables?: SetupQueryVariables, options?: RequestOptions): Pending<SetupAnswer>;
  /**
   * Tries a key at a vendor, free of charge. It is stored nowhere.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.testVendorKey({ secret: secret, vendorId: 'vendorId' });
   * ```
   */
  testVendorKey(variables: TestVendorKeyMutationVariables, options?: RequestOptions): Pending<TestVendorKeyAnswer>;
  /**
   * Puts models of a vendor on sale: upstreams, key, models, prices with a markup and routes, all or nothing.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.addVendor({ input: { markup: 'markup', models: ['models'], vendorId: 'vendorId' } });
   * ```
   */
  addVendor(variables: AddVendorMutationVariables, options?: RequestOptions): Pending<AddVendorAnswer>;
  /**
   * Finds the protocol and the models of an address by asking it for its list, free of charge. The key is stored nowhere.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.discoverVendor({ input: { baseUrl: 'baseUrl' } });
   * ```
   */
  discoverVendor(variables: DiscoverVendorMutationVariables, options?: RequestOptions): Pending<DiscoverVendorAnswer>;
  /**
   * Puts models of any vendor on sale: upstream, key, models, prices with a markup and routes, all or nothing, once the first model has answered the smallest request. The vendor charges for that.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.addUpstreamModels({ input: { baseUrl: 'baseUrl', markup: 'markup', models: [{ contextWindow: 1, costs: { cacheHit: '10', input: '10', output: '10' }, displayName: 'displayName', family: 'family', maxOutputTokens: 1, modelId: 'modelId', upstreamModel: 'upstreamModel' }], protocol: 'CHAT_COMPLETIONS', upstreamId: 'upstreamId' } });
   * ```
   */
  addUpstreamModels(variables: AddUpstreamModelsMutationVariables, options?: RequestOptions): Pending<AddUpstreamModelsAnswer>;
  /**
   * Requests of all customers that failed, by how they ended: the newest period first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.failures({ from: '2026-12-31T00:00:00Z', period: 'DAY' });
   * ```
   */
  failures(variables: FailuresQueryVariables, options?: RequestOptions): Pending<FailuresAnswer>;
  /**
   * The settings of the service that are kept here or in its environment.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.operatorSettings();
   * ```
   */
  operatorSettings(variables?: OperatorSettingsQueryVariables, options?: RequestOptions): Pending<OperatorSettingsAnswer>;
  /**
   * Stores settings, sealed, and puts them in force on all processes. What the environment has cannot be stored.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveSettings({ input: { group: 'ADDRESS', values: [{ name: 'name', value: 'value' }] } });
   * ```
   */
  saveSettings(variables: SaveSettingsMutationVariables, options?: RequestOptions): Pending<SaveSettingsAnswer>;
  /**
   * Tries settings without storing them: sends a mail to the operator who asks, or asks the provider.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.testSettings({ input: { group: 'ADDRESS', values: [{ name: 'name', value: 'value' }] } });
   * ```
   */
  testSettings(variables: TestSettingsMutationVariables, options?: RequestOptions): Pending<TestSettingsAnswer>;
  /**
   * The people who operate the service, the oldest first; at most 200.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.listOperators();
   * ```
   */
  listOperators(variables?: ListOperatorsQueryVariables, options?: RequestOptions): Pending<ListOperatorsAnswer>;
  /**
   * Makes a person who has signed up an operator, changes their role, or takes that away. Only a person does, who signed in with two factors in the last 10 minutes; no token. There is always an owner.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.setOperator({ email: 'email', operator: true });
   * ```
   */
  setOperator(variables: SetOperatorMutationVariables, options?: RequestOptions): Pending<SetOperatorAnswer>;
  /**
   * What happened to an account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.timeline({ accountId: 'account-id' })) console.log(each);
   * ```
   */
  timeline(variables: TimelineQueryVariables, options?: RequestOptions): Paged<TimelineAnswer>;
  /**
   * Writes a note about a customer into the timeline, which only operators see. It cannot be changed or removed.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.addAccountNote({ accountId: 'account-id', text: 'text' });
   * ```
   */
  addAccountNote(variables: AddAccountNoteMutationVariables, options?: RequestOptions): Pending<AddAccountNoteAnswer>;
  /**
   * Deletes a customer’s key, e.g. one that leaked: from the very next request on it opens nothing.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.revokeKey({ id: id, reason: 'reason' });
   * ```
   */
  revokeKey(variables: RevokeKeyMutationVariables, options?: RequestOptions): Pending<RevokeKeyAnswer>;
  /**
   * Suspends an account, or lets it go on. Running requests finish.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.setAccountStatus({ accountId: 'account-id', status: 'ACTIVE' });
   * ```
   */
  setAccountStatus(variables: SetAccountStatusMutationVariables, options?: RequestOptions): Pending<SetAccountStatusAnswer>;
  /**
   * Creates or changes a model. Its prices and routes stay.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveModel({ input: { contextWindow: 1, displayName: 'displayName', family: 'family', maxOutputTokens: 1, modelId: 'modelId' } });
   * ```
   */
  saveModel(variables: SaveModelMutationVariables, options?: RequestOptions): Pending<SaveModelAnswer>;
  /**
   * Switches a model on or off. Running requests finish.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.setModelEnabled({ enabled: true, modelId: 'modelId' });
   * ```
   */
  setModelEnabled(variables: SetModelEnabledMutationVariables, options?: RequestOptions): Pending<SetModelEnabledAnswer>;
  /**
   * Adds a price version. Requests that run are charged at the prices they were admitted with.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.savePrices({ input: { modelId: 'modelId', prices: { cacheHit: '10', input: '10', output: '10' } } });
   * ```
   */
  savePrices(variables: SavePricesMutationVariables, options?: RequestOptions): Pending<SavePricesAnswer>;
  /**
   * Says where a model runs. Routes that are not named are switched off.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.setRoutes({ modelId: 'modelId', routes: [{ upstreamId: 'upstreamId', upstreamModel: 'upstreamModel' }] });
   * ```
   */
  setRoutes(variables: SetRoutesMutationVariables, options?: RequestOptions): Pending<SetRoutesAnswer>;
  /**
   * Sends the smallest request through a route, switched on or not. The operator pays for it.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.testRoute({ id: id });
   * ```
   */
  testRoute(variables: TestRouteMutationVariables, options?: RequestOptions): Pending<TestRouteAnswer>;
  /**
   * Creates or changes an upstream.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveUpstream({ input: { baseUrl: 'baseUrl', protocol: 'CHAT_COMPLETIONS', upstreamId: 'upstreamId' } });
   * ```
   */
  saveUpstream(variables: SaveUpstreamMutationVariables, options?: RequestOptions): Pending<SaveUpstreamAnswer>;
  /**
   * Switches an upstream on or off. Running requests finish.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.setUpstreamEnabled({ enabled: true, upstreamId: 'upstreamId' });
   * ```
   */
  setUpstreamEnabled(variables: SetUpstreamEnabledMutationVariables, options?: RequestOptions): Pending<SetUpstreamEnabledAnswer>;
  /**
   * Adds a key beside those that an upstream has: the load is spread over them. Write-only.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.addUpstreamKey({ secret: secret, upstreamId: 'upstreamId' });
   * ```
   */
  addUpstreamKey(variables: AddUpstreamKeyMutationVariables, options?: RequestOptions): Pending<AddUpstreamKeyAnswer>;
  /**
   * Deletes a key of an upstream.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.deleteUpstreamKey({ keyId: 'key-id', upstreamId: 'upstreamId' });
   * ```
   */
  deleteUpstreamKey(variables: DeleteUpstreamKeyMutationVariables, options?: RequestOptions): Pending<DeleteUpstreamKeyAnswer>;
  /**
   * Orders of all accounts, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.searchOrders()) console.log(each);
   * ```
   */
  searchOrders(variables?: SearchOrdersQueryVariables, options?: RequestOptions): Paged<SearchOrdersAnswer>;
  /**
   * All plans, on sale or not, the cheapest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.listAllPlans();
   * ```
   */
  listAllPlans(variables?: ListAllPlansQueryVariables, options?: RequestOptions): Pending<ListAllPlansAnswer>;
  /**
   * Bank transfers, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.listBankTransfers()) console.log(each);
   * ```
   */
  listBankTransfers(variables?: ListBankTransfersQueryVariables, options?: RequestOptions): Paged<ListBankTransfersAnswer>;
  /**
   * Orders of all accounts, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.findOrdersToMatch()) console.log(each);
   * ```
   */
  findOrdersToMatch(variables?: FindOrdersToMatchQueryVariables, options?: RequestOptions): Paged<FindOrdersToMatchAnswer>;
  /**
   * Any object by its global id; null when there is none that you may see.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.transferProposals({ transferId: 'transfer-id' });
   * ```
   */
  transferProposals(variables: TransferProposalsQueryVariables, options?: RequestOptions): Pending<TransferProposalsAnswer>;
  /**
   * Takes back a match that an operator made, while nothing of its budget is spent: the budget ends, the order waits for its money again, the transfer returns to the queue.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.undoTransferMatch({ transferId: 'transfer-id' });
   * ```
   */
  undoTransferMatch(variables: UndoTransferMatchMutationVariables, options?: RequestOptions): Pending<UndoTransferMatchAnswer>;
  /**
   * Credits an account with a transfer that belongs to no order: a paid order of exactly this amount, at a plan’s price of a USD.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.creditTransfer({ accountId: 'account-id', planId: 'planId', transferId: 'transfer-id' });
   * ```
   */
  creditTransfer(variables: CreditTransferMutationVariables, options?: RequestOptions): Pending<CreditTransferAnswer>;
  /**
   * Lays a transfer beside an order: the order is paid when its transfers reach its price.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.matchTransfer({ orderId: 'order-id', transferId: 'transfer-id' });
   * ```
   */
  matchTransfer(variables: MatchTransferMutationVariables, options?: RequestOptions): Pending<MatchTransferAnswer>;
  /**
   * Records an incoming transfer by hand; it is matched by its memo like any other.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.recordTransfer({ input: { amountVnd: '250000', bankReference: 'bankReference', bookedAt: '2026-12-31T00:00:00Z', memo: 'memo' } });
   * ```
   */
  recordTransfer(variables: RecordTransferMutationVariables, options?: RequestOptions): Pending<RecordTransferAnswer>;
  /**
   * Takes a transfer out of the queue, with a note on what was done about it.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.closeTransferReview({ note: 'note', transferId: 'transfer-id' });
   * ```
   */
  closeTransferReview(variables: CloseTransferReviewMutationVariables, options?: RequestOptions): Pending<CloseTransferReviewAnswer>;
  /**
   * Creates or changes a plan.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.savePlan({ input: { budget: '10', name: 'name', planId: 'planId', priceVnd: '250000' } });
   * ```
   */
  savePlan(variables: SavePlanMutationVariables, options?: RequestOptions): Pending<SavePlanAnswer>;
  /**
   * The operator’s side.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.probing();
   * ```
   */
  probing(variables?: ProbingQueryVariables, options?: RequestOptions): Pending<ProbingAnswer>;
  /**
   * Lets a machine elsewhere measure the service: makes its token.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.createProbeAgent({ input: { name: 'name', region: 'region' } });
   * ```
   */
  createProbeAgent(variables: CreateProbeAgentMutationVariables, options?: RequestOptions): Pending<CreateProbeAgentAnswer>;
  /**
   * Refuses the token of an agent from now on, and takes back what it found: uptime, since when it is measured and incidents are what they are without it.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.revokeProbeAgent({ id: id });
   * ```
   */
  revokeProbeAgent(variables: RevokeProbeAgentMutationVariables, options?: RequestOptions): Pending<RevokeProbeAgentAnswer>;
  /**
   * Sets pace and budget of probes, of one model or of all.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveProbing({ input: {} });
   * ```
   */
  saveProbing(variables: SaveProbingMutationVariables, options?: RequestOptions): Pending<SaveProbingAnswer>;
  /**
   * Says something in the course of an incident or of maintenance. A measured incident ends when probes say so; an announcement ends with RESOLVED or COMPLETED.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.addStatusUpdate({ input: { body: 'body', state: 'COMPLETED' } });
   * ```
   */
  addStatusUpdate(variables: AddStatusUpdateMutationVariables, options?: RequestOptions): Pending<AddStatusUpdateAnswer>;
  /**
   * Tells everybody something on the status page.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.announce({ input: { body: 'body', kind: 'INCIDENT', title: 'title' } });
   * ```
   */
  announce(variables: AnnounceMutationVariables, options?: RequestOptions): Pending<AnnounceAnswer>;
  /**
   * Ends an announcement now, or says when it ends: maintenance that takes longer, or less time, than announced.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.endAnnouncement({ id: id });
   * ```
   */
  endAnnouncement(variables: EndAnnouncementMutationVariables, options?: RequestOptions): Pending<EndAnnouncementAnswer>;
  /**
   * Who belongs to the account, the longest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.accountMembers({ id: id });
   * ```
   */
  accountMembers(variables: AccountMembersQueryVariables, options?: RequestOptions): Pending<AccountMembersAnswer>;
  /**
   * The limits that it sets itself.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.accountLimitsForOperator({ id: id });
   * ```
   */
  accountLimitsForOperator(variables: AccountLimitsForOperatorQueryVariables, options?: RequestOptions): Pending<AccountLimitsForOperatorAnswer>;
  /**
   * Usage added up for a chart: the newest period first, then by model, key, outcome, project and maker.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.accountUsage({ id: id })) console.log(each);
   * ```
   */
  accountUsage(variables: AccountUsageQueryVariables, options?: RequestOptions): Paged<AccountUsageAnswer>;
  /**
   * Keys of the account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.accountKeys({ id: id })) console.log(each);
   * ```
   */
  accountKeys(variables: AccountKeysQueryVariables, options?: RequestOptions): Paged<AccountKeysAnswer>;
  /**
   * Orders of the account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.accountOrders({ id: id })) console.log(each);
   * ```
   */
  accountOrders(variables: AccountOrdersQueryVariables, options?: RequestOptions): Paged<AccountOrdersAnswer>;
  /**
   * Finished requests. Sorted by anything but time, a list covers at most 100000 requests: narrow the filter’s range where there are more.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.accountEntries({ id: id })) console.log(each);
   * ```
   */
  accountEntries(variables: AccountEntriesQueryVariables, options?: RequestOptions): Paged<AccountEntriesAnswer>;
  /**
   * The entry of one request; null when there is none (yet). A request of an archived month is refused with a sentence.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.accountEntry({ id: id, requestId: 'requestId' });
   * ```
   */
  accountEntry(variables: AccountEntryQueryVariables, options?: RequestOptions): Pending<AccountEntryAnswer>;
  /**
   * How the business is doing, and what waits for a person.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.business();
   * ```
   */
  business(variables?: BusinessQueryVariables, options?: RequestOptions): Pending<BusinessAnswer>;
  /**
   * Customers, orders, transfers, keys, models and requests that a text may mean; a few of each.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.search({ text: 'text' });
   * ```
   */
  search(variables: SearchQueryVariables, options?: RequestOptions): Pending<SearchAnswer>;
  /**
   * Replaces the seller’s details, which appear on every page and on receipts.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveSeller({ input: {} });
   * ```
   */
  saveSeller(variables: SaveSellerMutationVariables, options?: RequestOptions): Pending<SaveSellerAnswer>;
  /**
   * Notices of the business, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.listBusinessNotices()) console.log(each);
   * ```
   */
  listBusinessNotices(variables?: ListBusinessNoticesQueryVariables, options?: RequestOptions): Paged<ListBusinessNoticesAnswer>;
  /**
   * Which notices of the business operators get.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.businessNoticeSettings();
   * ```
   */
  businessNoticeSettings(variables?: BusinessNoticeSettingsQueryVariables, options?: RequestOptions): Pending<BusinessNoticeSettingsAnswer>;
  /**
   * Chooses which notices of the business operators get.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.updateBusinessNoticeSettings({ input: {} });
   * ```
   */
  updateBusinessNoticeSettings(variables: UpdateBusinessNoticeSettingsMutationVariables, options?: RequestOptions): Pending<UpdateBusinessNoticeSettingsAnswer>;
  /**
   * Where notices of the business are sent, beside mail.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.listBusinessChannels();
   * ```
   */
  listBusinessChannels(variables?: ListBusinessChannelsQueryVariables, options?: RequestOptions): Pending<ListBusinessChannelsAnswer>;
  /**
   * Adds a channel for the notices of the business. Its secret is sealed and never shown.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.createBusinessChannel({ input: { kind: 'DISCORD', name: 'name', secret: secret } });
   * ```
   */
  createBusinessChannel(variables: CreateBusinessChannelMutationVariables, options?: RequestOptions): Pending<CreateBusinessChannelAnswer>;
  /**
   * Changes a channel of the business, or switches it on or off.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.updateBusinessChannel({ input: { id: id } });
   * ```
   */
  updateBusinessChannel(variables: UpdateBusinessChannelMutationVariables, options?: RequestOptions): Pending<UpdateBusinessChannelAnswer>;
  /**
   * Removes a channel of the business with its secret.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.deleteBusinessChannel({ id: id });
   * ```
   */
  deleteBusinessChannel(variables: DeleteBusinessChannelMutationVariables, options?: RequestOptions): Pending<DeleteBusinessChannelAnswer>;
  /**
   * Sends a message to a channel now. `problem` says why it did not arrive. At most one in five seconds.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.testBusinessChannel({ id: id });
   * ```
   */
  testBusinessChannel(variables: TestBusinessChannelMutationVariables, options?: RequestOptions): Pending<TestBusinessChannelAnswer>;
  /**
   * E-invoices that fail or have to be cancelled, the oldest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.invoiceProblems()) console.log(each);
   * ```
   */
  invoiceProblems(variables?: InvoiceProblemsQueryVariables, options?: RequestOptions): Paged<InvoiceProblemsAnswer>;
  /**
   * Tries an e-invoice again that could not be issued, or its XML. It is looked up first: there is never a second one.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.retryInvoice({ orderId: 'order-id' });
   * ```
   */
  retryInvoice(variables: RetryInvoiceMutationVariables, options?: RequestOptions): Pending<RetryInvoiceAnswer>;
  /**
   * Batches of redemption codes, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.codeBatches()) console.log(each);
   * ```
   */
  codeBatches(variables?: CodeBatchesQueryVariables, options?: RequestOptions): Paged<CodeBatchesAnswer>;
  /**
   * Who redeemed codes of a batch, newest first. Null: there is no such batch.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.operator.codeRedemptions({ batchId: 'batch-id' })) console.log(each);
   * ```
   */
  codeRedemptions(variables: CodeRedemptionsQueryVariables, options?: RequestOptions): Paged<CodeRedemptionsAnswer>;
  /**
   * Makes redemption codes. They are shown once.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.createCodes({ input: { count: 1, name: 'name' } });
   * ```
   */
  createCodes(variables: CreateCodesMutationVariables, options?: RequestOptions): Pending<CreateCodesAnswer>;
  /**
   * Ends a batch of redemption codes; what was redeemed stays.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.revokeCodes({ batchId: 'batch-id' });
   * ```
   */
  revokeCodes(variables: RevokeCodesMutationVariables, options?: RequestOptions): Pending<RevokeCodesAnswer>;
  /**
   * Offers free amounts, or none any more.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveTopUp();
   * ```
   */
  saveTopUp(variables?: SaveTopUpMutationVariables, options?: RequestOptions): Pending<SaveTopUpAnswer>;
  /**
   * Replaces the steps of bonuses. Orders keep the bonus that they were made with.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.saveBonusSteps({ steps: [{ basisPoints: 1, fromVnd: '250000' }] });
   * ```
   */
  saveBonusSteps(variables: SaveBonusStepsMutationVariables, options?: RequestOptions): Pending<SaveBonusStepsAnswer>;
  /**
   * Begins a look at the pages of a customer. It is read-only, ends after 15 minutes or with the operator’s session or role, and the owner of the account sees that it was taken. For a signed-in operator with a second factor.
   *
   * @example
   * ```ts
   * const result = await steyg.console.operator.beginAccountView({ accountId: 'account-id' });
   * ```
   */
  beginAccountView(variables: BeginAccountViewMutationVariables, options?: RequestOptions): Pending<BeginAccountViewAnswer>;
}

/** Operations on orders. */
export interface ConsoleOrders {
  /**
   * Whether budget can be bought here, and whether that is a demonstration.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.shop();
   * ```
   */
  shop(variables?: ShopQueryVariables, options?: RequestOptions): Pending<ShopAnswer>;
  /**
   * The plans on sale, the cheapest first.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.plans();
   * ```
   */
  plans(variables?: PlansQueryVariables, options?: RequestOptions): Pending<PlansAnswer>;
  /**
   * One order; null when there is none that you may see.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.order({ id: id });
   * ```
   */
  order(variables: OrderQueryVariables, options?: RequestOptions): Pending<OrderAnswer>;
  /**
   * Orders of the account, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.orders.listOrders()) console.log(each);
   * ```
   */
  listOrders(variables?: ListOrdersQueryVariables, options?: RequestOptions): Paged<ListOrdersAnswer>;
  /**
   * Orders a plan, or the upgrade of one. The budget is there once the money is.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.createOrder({ input: {} });
   * ```
   */
  createOrder(variables: CreateOrderMutationVariables, options?: RequestOptions): Pending<CreateOrderAnswer>;
  /**
   * Cancels an order that no money has reached.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.cancelOrder({ id: id });
   * ```
   */
  cancelOrder(variables: CancelOrderMutationVariables, options?: RequestOptions): Pending<CancelOrderAnswer>;
  /**
   * An order as it is now, and again at every change, until it is paid, expired or cancelled.
   *
   * @example
   * ```ts
   * for await (const event of steyg.console.orders.orderStatus({ id: id })) console.log(event);
   * ```
   */
  orderStatus(variables: OrderStatusSubscriptionVariables, options?: RequestOptions): Subscription<OrderStatusAnswer>;
  /**
   * The seller, and where customers find help and terms.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.seller();
   * ```
   */
  seller(variables?: SellerQueryVariables, options?: RequestOptions): Pending<SellerAnswer>;
  /**
   * One of your accounts; null: you have none with this id.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.company();
   * ```
   */
  company(variables?: CompanyQueryVariables, options?: RequestOptions): Pending<CompanyAnswer>;
  /**
   * Says for which company an account buys: its receipts name it. Without `company`: for a person.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.setCompany({ accountId: 'account-id' });
   * ```
   */
  setCompany(variables: SetCompanyMutationVariables, options?: RequestOptions): Pending<SetCompanyAnswer>;
  /**
   * One of your accounts; null: you have none with this id.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.statements();
   * ```
   */
  statements(variables?: StatementsQueryVariables, options?: RequestOptions): Pending<StatementsAnswer>;
  /**
   * One of your accounts; null: you have none with this id.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.statement({ month: 'month' });
   * ```
   */
  statement(variables: StatementQueryVariables, options?: RequestOptions): Pending<StatementAnswer>;
  /**
   * The steps of bonuses, the lowest first; the highest that an order reaches counts.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.bonusSteps();
   * ```
   */
  bonusSteps(variables?: BonusStepsQueryVariables, options?: RequestOptions): Pending<BonusStepsAnswer>;
  /**
   * The free amounts that can be bought; null: only plans are sold.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.topUp();
   * ```
   */
  topUp(variables?: TopUpQueryVariables, options?: RequestOptions): Pending<TopUpAnswer>;
  /**
   * Redeems a code for an account, once. Attempts are limited by person and by network.
   *
   * @example
   * ```ts
   * const result = await steyg.console.orders.redeemCode({ code: 'code' });
   * ```
   */
  redeemCode(variables: RedeemCodeMutationVariables, options?: RequestOptions): Pending<RedeemCodeAnswer>;
}

/** Operations on people. */
export interface ConsolePeople {
  /**
   * The principal of this request; null without one.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.me();
   * ```
   */
  me(variables?: MeQueryVariables, options?: RequestOptions): Pending<MeAnswer>;
  /**
   * How people sign in here.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.signInMethods();
   * ```
   */
  signInMethods(variables?: SignInMethodsQueryVariables, options?: RequestOptions): Pending<SignInMethodsAnswer>;
  /**
   * Begins a sign-up and sends a link to the address. Answers the same whether or not the address has an account. The account, and with it the trial budget, is opened when the link is used.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.signUp({ input: { email: 'email', name: 'name', password: password } });
   * ```
   */
  signUp(variables: SignUpMutationVariables, options?: RequestOptions): Pending<SignUpAnswer>;
  /**
   * Sends the link of a sign-up again. Answers the same whether or not there is one.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.resendVerification({ email: 'email' });
   * ```
   */
  resendVerification(variables: ResendVerificationMutationVariables, options?: RequestOptions): Pending<ResendVerificationAnswer>;
  /**
   * Uses the link of a mail: confirms the address of a sign-up (and opens the account with its trial budget), or one step of a change of address.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.verifyEmail({ token: token });
   * ```
   */
  verifyEmail(variables: VerifyEmailMutationVariables, options?: RequestOptions): Pending<VerifyEmailAnswer>;
  /**
   * Signs in with e-mail address and password. At most 5 attempts a minute for one address and network.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.signIn({ email: 'email', password: password });
   * ```
   */
  signIn(variables: SignInMutationVariables, options?: RequestOptions): Pending<SignInAnswer>;
  /**
   * The second step of signing in: a one-time code, or one of the backup codes.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.signInWithCode({ code: 'code' });
   * ```
   */
  signInWithCode(variables: SignInWithCodeMutationVariables, options?: RequestOptions): Pending<SignInWithCodeAnswer>;
  /**
   * Begins a sign-in with a passkey; `signInWithPasskey` ends it.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.beginPasskeySignIn();
   * ```
   */
  beginPasskeySignIn(variables?: BeginPasskeySignInMutationVariables, options?: RequestOptions): Pending<BeginPasskeySignInAnswer>;
  /**
   * Signs in with a passkey. No one-time code is asked for: the device must have verified its user, by finger, face or PIN.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.signInWithPasskey({ credential: 'credential' });
   * ```
   */
  signInWithPasskey(variables: SignInWithPasskeyMutationVariables, options?: RequestOptions): Pending<SignInWithPasskeyAnswer>;
  /**
   * Ends the session of this browser. Does nothing when there is none.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.signOut();
   * ```
   */
  signOut(variables?: SignOutMutationVariables, options?: RequestOptions): Pending<SignOutAnswer>;
  /**
   * Sends a link for choosing a new password. Answers the same whether or not the address is known.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.requestPasswordReset({ email: 'email' });
   * ```
   */
  requestPasswordReset(variables: RequestPasswordResetMutationVariables, options?: RequestOptions): Pending<RequestPasswordResetAnswer>;
  /**
   * Chooses a new password with the link of a mail. Every session ends, and every passkey and linked account is removed.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.resetPassword({ newPassword: 'newPassword', token: token });
   * ```
   */
  resetPassword(variables: ResetPasswordMutationVariables, options?: RequestOptions): Pending<ResetPasswordAnswer>;
  /**
   * Changes the password. Every other session ends, and this one gets a new id.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.changePassword({ currentPassword: 'currentPassword', newPassword: 'newPassword' });
   * ```
   */
  changePassword(variables: ChangePasswordMutationVariables, options?: RequestOptions): Pending<ChangePasswordAnswer>;
  /**
   * Begins a change of address: a link goes to the old address, and after that one to the new. Answers the same whether or not the new address is taken.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.changeEmail({ newEmail: 'newEmail', password: password });
   * ```
   */
  changeEmail(variables: ChangeEmailMutationVariables, options?: RequestOptions): Pending<ChangeEmailAnswer>;
  /**
   * Changes name or language of the signed-in person.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.updateProfile();
   * ```
   */
  updateProfile(variables?: UpdateProfileMutationVariables, options?: RequestOptions): Pending<UpdateProfileAnswer>;
  /**
   * Begins to set up one-time codes. They are asked for once `confirmSecondFactor` has seen one.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.beginSecondFactor({ password: password });
   * ```
   */
  beginSecondFactor(variables: BeginSecondFactorMutationVariables, options?: RequestOptions): Pending<BeginSecondFactorAnswer>;
  /**
   * Switches one-time codes on with a first code. Every other session ends.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.confirmSecondFactor({ code: 'code' });
   * ```
   */
  confirmSecondFactor(variables: ConfirmSecondFactorMutationVariables, options?: RequestOptions): Pending<ConfirmSecondFactorAnswer>;
  /**
   * Switches one-time codes off.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.disableSecondFactor({ code: 'code', password: password });
   * ```
   */
  disableSecondFactor(variables: DisableSecondFactorMutationVariables, options?: RequestOptions): Pending<DisableSecondFactorAnswer>;
  /**
   * Makes new backup codes.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.renewBackupCodes({ password: password });
   * ```
   */
  renewBackupCodes(variables: RenewBackupCodesMutationVariables, options?: RequestOptions): Pending<RenewBackupCodesAnswer>;
  /**
   * Ends one session of the signed-in person.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.revokeSession({ id: id });
   * ```
   */
  revokeSession(variables: RevokeSessionMutationVariables, options?: RequestOptions): Pending<RevokeSessionAnswer>;
  /**
   * Ends every session of the signed-in person but this one.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.revokeOtherSessions();
   * ```
   */
  revokeOtherSessions(variables?: RevokeOtherSessionsMutationVariables, options?: RequestOptions): Pending<RevokeOtherSessionsAnswer>;
  /**
   * Passkeys of the person, oldest first; empty for an access token.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.listPasskeys();
   * ```
   */
  listPasskeys(variables?: ListPasskeysQueryVariables, options?: RequestOptions): Pending<ListPasskeysAnswer>;
  /**
   * Begins to add a passkey of the signed-in person; `addPasskey` ends it. At most 20.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.beginPasskey({ password: password });
   * ```
   */
  beginPasskey(variables: BeginPasskeyMutationVariables, options?: RequestOptions): Pending<BeginPasskeyAnswer>;
  /**
   * Adds the passkey that the browser made for `beginPasskey`.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.addPasskey({ credential: 'credential', name: 'name' });
   * ```
   */
  addPasskey(variables: AddPasskeyMutationVariables, options?: RequestOptions): Pending<AddPasskeyAnswer>;
  /**
   * Gives a passkey of the signed-in person another name.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.renamePasskey({ id: id, name: 'name' });
   * ```
   */
  renamePasskey(variables: RenamePasskeyMutationVariables, options?: RequestOptions): Pending<RenamePasskeyAnswer>;
  /**
   * Removes a passkey of the signed-in person. The other sessions that it opened end.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.removePasskey({ id: id, password: password });
   * ```
   */
  removePasskey(variables: RemovePasskeyMutationVariables, options?: RequestOptions): Pending<RemovePasskeyAnswer>;
  /**
   * Accounts elsewhere that sign the person in, oldest first; empty for an access token.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.listIdentities();
   * ```
   */
  listIdentities(variables?: ListIdentitiesQueryVariables, options?: RequestOptions): Pending<ListIdentitiesAnswer>;
  /**
   * An account elsewhere no longer signs the person in. Their other sessions end.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.removeIdentity({ id: id, password: password });
   * ```
   */
  removeIdentity(variables: RemoveIdentityMutationVariables, options?: RequestOptions): Pending<RemoveIdentityAnswer>;
  /**
   * After a sign-in at another service with the address of somebody who is here: mails them a link for `linkIdentity`. Answers the same where nothing waits in this browser.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.requestIdentityLink();
   * ```
   */
  requestIdentityLink(variables?: RequestIdentityLinkMutationVariables, options?: RequestOptions): Pending<RequestIdentityLinkAnswer>;
  /**
   * Links the account elsewhere that waits in this browser, and signs in with it. A sign-in in the same browser with password or passkey links it, too.
   *
   * @example
   * ```ts
   * const result = await steyg.console.people.linkIdentity({ token: token });
   * ```
   */
  linkIdentity(variables: LinkIdentityMutationVariables, options?: RequestOptions): Pending<LinkIdentityAnswer>;
}

/** Operations on status. */
export interface ConsoleStatus {
  /**
   * How the service does.
   *
   * @example
   * ```ts
   * const result = await steyg.console.status.serviceStatus();
   * ```
   */
  serviceStatus(variables?: ServiceStatusQueryVariables, options?: RequestOptions): Pending<ServiceStatusAnswer>;
  /**
   * How the service does.
   *
   * @example
   * ```ts
   * const result = await steyg.console.status.serviceState();
   * ```
   */
  serviceState(variables?: ServiceStateQueryVariables, options?: RequestOptions): Pending<ServiceStateAnswer>;
  /**
   * A model’s probes over time; hours or days without any are left out.
   *
   * @example
   * ```ts
   * const result = await steyg.console.status.uptime({ from: '2026-12-31T00:00:00Z', modelId: 'modelId', period: 'DAY', to: '2026-12-31T00:00:00Z' });
   * ```
   */
  uptime(variables: UptimeQueryVariables, options?: RequestOptions): Pending<UptimeAnswer>;
  /**
   * Incidents, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.status.listIncidents()) console.log(each);
   * ```
   */
  listIncidents(variables?: ListIncidentsQueryVariables, options?: RequestOptions): Paged<ListIncidentsAnswer>;
}

/** Operations on webhooks. */
export interface ConsoleWebhooks {
  /**
   * Where the account’s own programs hear of events.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.listEndpoints();
   * ```
   */
  listEndpoints(variables?: ListEndpointsQueryVariables, options?: RequestOptions): Pending<ListEndpointsAnswer>;
  /**
   * Adds an endpoint for events. The secret is shown this once.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.createWebhookEndpoint({ input: { url: 'url' } });
   * ```
   */
  createWebhookEndpoint(variables: CreateWebhookEndpointMutationVariables, options?: RequestOptions): Pending<CreateWebhookEndpointAnswer>;
  /**
   * Changes an endpoint, or switches it on or off.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.updateWebhookEndpoint({ input: { id: id } });
   * ```
   */
  updateWebhookEndpoint(variables: UpdateWebhookEndpointMutationVariables, options?: RequestOptions): Pending<UpdateWebhookEndpointAnswer>;
  /**
   * Removes an endpoint; what was still to be sent there is not.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.deleteWebhookEndpoint({ id: id });
   * ```
   */
  deleteWebhookEndpoint(variables: DeleteWebhookEndpointMutationVariables, options?: RequestOptions): Pending<DeleteWebhookEndpointAnswer>;
  /**
   * Gives an endpoint a new secret, which signs everything from now on.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.rotateWebhookSecret({ id: id });
   * ```
   */
  rotateWebhookSecret(variables: RotateWebhookSecretMutationVariables, options?: RequestOptions): Pending<RotateWebhookSecretAnswer>;
  /**
   * Sends the event `webhook.test` to an endpoint. At most 10 tests and replays a minute for an account.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.sendTestWebhook({ id: id });
   * ```
   */
  sendTestWebhook(variables: SendTestWebhookMutationVariables, options?: RequestOptions): Pending<SendTestWebhookAnswer>;
  /**
   * Sends an event again, with the same id and the same body. At most 10 tests and replays a minute for an account.
   *
   * @example
   * ```ts
   * const result = await steyg.console.webhooks.replayWebhookDelivery({ id: id });
   * ```
   */
  replayWebhookDelivery(variables: ReplayWebhookDeliveryMutationVariables, options?: RequestOptions): Pending<ReplayWebhookDeliveryAnswer>;
  /**
   * What was, is and will be sent there, newest first.
   *
   * @example
   * ```ts
   * for await (const each of steyg.console.webhooks.listDeliveries({ id: id })) console.log(each);
   * ```
   */
  listDeliveries(variables: ListDeliveriesQueryVariables, options?: RequestOptions): Paged<ListDeliveriesAnswer>;
}

/** Every operation of the control plane, by domain. */
export interface Console {
  /** Operations on accounts. */
  accounts: ConsoleAccounts;
  /** Operations on books. */
  books: ConsoleBooks;
  /** Operations on catalog. */
  catalog: ConsoleCatalog;
  /** Operations on keys. */
  keys: ConsoleKeys;
  /** Operations on ledger. */
  ledger: ConsoleLedger;
  /** Operations on machines. */
  machines: ConsoleMachines;
  /** Operations on operator. */
  operator: ConsoleOperator;
  /** Operations on orders. */
  orders: ConsoleOrders;
  /** Operations on people. */
  people: ConsolePeople;
  /** Operations on status. */
  status: ConsoleStatus;
  /** Operations on webhooks. */
  webhooks: ConsoleWebhooks;
}
