// Generated from schema.graphql and operations/ by `npm run generate:sdk`. Do not edit.

const bookTaxes = 'fragment BookTaxes on BookTaxes{foreignIncome foreignNet foreignVat note salesVat setAt setBy validFrom}';
const budgetRollForward = 'fragment BudgetRollForward on BudgetRollForward{added closing expired opening refunded undone used}';
const closedMonth = 'fragment ClosedMonth on ClosedMonth{closedAt closedBy digest earlier{expired margin revenueVnd shortfall unknownCharged unused upstreamCost used usedOfPurchases usedOfTrials}month statement{...MonthStatement}timeZone}';
const comparedUsage = 'fragment ComparedUsage on ComparedUsage{cacheHit cacheWrite cost input output requests}';
const creditNote = 'fragment CreditNote on CreditNote{amountVnd bonus budget issuedAt kind number sentVnd undoneAt url}';
const download = 'fragment Download on Download{expiresAt url}';
const exchangeRate = 'fragment ExchangeRate on ExchangeRate{period rate setAt setBy source}';
const journalAccount = 'fragment JournalAccount on JournalAccount{number role}';
const marginRow = 'fragment MarginRow on MarginRow{account{id name}bought charged margin model requests shortfall start unknownBought unknownCharged unknownRequests upstream upstreamCost}';
const monthPreview = 'fragment MonthPreview on MonthPreview{imbalances{computed found row}isOver month statement{...MonthStatement}timeZone}';
const monthStatement = 'fragment MonthStatement on MonthStatement{allowedNetVnd allowedVnd bonus{...BudgetRollForward}bought{...BudgetRollForward}boughtNetVnd{...VndRollForward}boughtVnd{...VndRollForward}cash{closing credited opening partPayments received sent sold surplus toSend unassigned undone withoutOrder}given{...BudgetRollForward}margin missingRates own{...BudgetRollForward}probe{...BudgetRollForward}shortfall trial{...BudgetRollForward}unknownCharged unknownOfBought unknownRequests vendorCost{bonus bought given own probe shortfall total trial unsplit}vnd{foreignIncomeTax foreignVat income rates result taxesBorne vendorCost}}';
const pageInfo = 'fragment PageInfo on PageInfo{endCursor hasNextPage hasPreviousPage startCursor}';
const problem = 'fragment Problem on Error{code message ...on BusyError{retryAfterSeconds}...on InputError{problems{message path}}...on TooManyAttemptsError{retryAfterSeconds}}';
const refund = 'fragment Refund on Refund{account{id name}createdBy creditNote{...CreditNote}memo note order{id memo}refundId undoneBy undoneNote unusedVnd usedVnd}';
const revenueRow = 'fragment RevenueRow on RevenueRow{bought charged cost failures margin model requests shortfall start tokens{...Tokens}unknownBought unknownCharged unknownRequests upstreamCost}';
const tokens = 'fragment Tokens on Tokens{cacheHit cacheWrite1h cacheWrite5m input output}';
const vendorBills = 'fragment VendorBills on VendorBills{firstDay importedAt lastDay missingDays upstream}';
const vendorComparison = 'fragment VendorComparison on VendorComparison{apart causes day differs estimated ledger{...ComparedUsage}model unknown unpaid upstream vendor{...ComparedUsage}}';
const vendorFile = 'fragment VendorFile on VendorFile{fileId from importedAt importedBy rows to undoneAt upstream version}';
const vndRollForward = 'fragment VndRollForward on VndRollForward{added closing expired opening refunded undone used}';

/** The text of each operation. */
export const booksDocuments: Record<string, string> = {
  margins: 'query margins($accountId:ID$after:String$by:[MarginGroup!]$first:Int$from:DateTime$model:String$period:UsagePeriod$probes:Boolean$timeZone:String$to:DateTime$upstream:String){operator{margins(accountId:$accountId after:$after by:$by first:$first from:$from model:$model period:$period probes:$probes timeZone:$timeZone to:$to upstream:$upstream){nodes{...MarginRow}pageInfo{...PageInfo}}}}' + marginRow + pageInfo,
  revenue: 'query revenue($after:String$first:Int$from:DateTime$model:String$period:UsagePeriod$timeZone:String$to:DateTime){operator{revenue(after:$after first:$first from:$from model:$model period:$period timeZone:$timeZone to:$to){nodes{...RevenueRow}pageInfo{...PageInfo}}}}' + pageInfo + revenueRow + tokens,
  shortfalls: 'query shortfalls($after:String$days:Int$first:Int){operator{shortfalls(after:$after days:$days first:$first){nodes{charged cost createdAt model operator{account{id name}shortfall}requestId}pageInfo{...PageInfo}}}}' + pageInfo,
  vendorComparison: 'query vendorComparison($after:String$differing:Boolean$first:Int$from:String!$to:String!$upstream:String){operator{vendorComparison(after:$after differing:$differing first:$first from:$from to:$to upstream:$upstream){nodes{...VendorComparison}pageInfo{...PageInfo}compared differing totals{apart credits differs ledger{...ComparedUsage}unknown upstream vendor{...ComparedUsage}}}}}' + comparedUsage + pageInfo + vendorComparison,
  differingRequests: 'query differingRequests($cause:BillCause!$after:String$first:Int$from:String!$to:String!$upstream:String){operator{vendorComparison(after:$after differing:true first:$first from:$from to:$to upstream:$upstream){nodes{day model requests(cause:$cause)upstream}pageInfo{...PageInfo}}}}' + pageInfo,
  listVendorFiles: 'query listVendorFiles($after:String$first:Int$upstream:String){operator{vendorFiles(after:$after first:$first upstream:$upstream){nodes{...VendorFile}pageInfo{...PageInfo}}}}' + pageInfo + vendorFile,
  listRefunds: 'query listRefunds($after:String$first:Int$open:Boolean){operator{refunds(after:$after first:$first open:$open){nodes{...Refund}pageInfo{...PageInfo}}}}' + creditNote + pageInfo + refund,
  refundOrder: 'mutation refundOrder($input:RefundOrderInput!){refundOrder(input:$input){__typename ...Refund ...Problem}}' + creditNote + problem + refund,
  refundTransfer: 'mutation refundTransfer($input:RefundTransferInput!){refundTransfer(input:$input){__typename ...Refund ...Problem}}' + creditNote + problem + refund,
  payRefund: 'mutation payRefund($refundId:String!$transferId:ID!){payRefund(refundId:$refundId transferId:$transferId){__typename ...Refund ...Problem}}' + creditNote + problem + refund,
  undoRefund: 'mutation undoRefund($input:UndoRefundInput!){undoRefund(input:$input){__typename ...Refund ...Problem}}' + creditNote + problem + refund,
  undoVendorImport: 'mutation undoVendorImport($fileId:String!){undoVendorImport(fileId:$fileId){__typename ...VendorFile ...Problem}}' + problem + vendorFile,
  createBookPaperDownload: 'mutation createBookPaperDownload($input:CreateBookPaperDownloadInput!){createBookPaperDownload(input:$input){__typename ...Download ...Problem}}' + download + problem,
  vendorBills: 'query vendorBills{operator{vendorBills{...VendorBills}}}' + vendorBills,
  nextMonthToClose: 'query nextMonthToClose($month:String$timeZone:String){operator{nextMonthToClose(month:$month timeZone:$timeZone){...MonthPreview}}}' + budgetRollForward + monthPreview + monthStatement + vndRollForward,
  closedMonths: 'query closedMonths{operator{closedMonths{...ClosedMonth}}}' + budgetRollForward + closedMonth + monthStatement + vndRollForward,
  importVendorUsage: 'mutation importVendorUsage($input:ImportVendorUsageInput!){importVendorUsage(input:$input){__typename ...on VendorUsageImported{emptyDays file{...VendorFile}replaced}...Problem}}' + problem + vendorFile,
  closeMonth: 'mutation closeMonth($month:String!$timeZone:String){closeMonth(input:{month:$month timeZone:$timeZone}){__typename ...ClosedMonth ...Problem}}' + budgetRollForward + closedMonth + monthStatement + problem + vndRollForward,
  createBooksDownload: 'mutation createBooksDownload{createBooksDownload{__typename ...Download ...Problem}}' + download + problem,
  refundQuote: 'query refundQuote($budget:UsdAmount$orderId:ID!){operator{refundQuote(budget:$budget orderId:$orderId){budget free held mostUsedVnd unusedVnd}}}',
  bookSettings: 'query bookSettings($month:String!){operator{bookTaxes{...BookTaxes}exchangeRates(month:$month){...ExchangeRate}journalAccounts{...JournalAccount}}}' + bookTaxes + exchangeRate + journalAccount,
  setExchangeRate: 'mutation setExchangeRate($input:SetExchangeRateInput!){setExchangeRate(input:$input){__typename ...ExchangeRate ...Problem}}' + exchangeRate + problem,
  setBookTaxes: 'mutation setBookTaxes($input:SetBookTaxesInput!){setBookTaxes(input:$input){__typename ...BookTaxes ...Problem}}' + bookTaxes + problem,
  saveJournalAccounts: 'mutation saveJournalAccounts($accounts:[JournalAccountInput!]!){saveJournalAccounts(accounts:$accounts){__typename ...on JournalAccountsSaved{accounts{...JournalAccount}}...Problem}}' + journalAccount + problem,
};
