/** How a request that was sent upstream ended, as the ledger records it. */
export type Outcome =
  | 'completed'
  | 'budget_stopped'
  | 'client_closed'
  | 'upstream_error'
  | 'upstream_cut'
  | 'timeout'
  | 'shutdown';
