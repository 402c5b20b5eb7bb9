/**
 * The addresses of the pages. The build passes them to the server, which answers exactly these with the page: a
 * mistyped address is a 404 to programs too. A part that begins with a colon is a parameter.
 */
export const pages = {
  home: '/',
  signIn: '/sign-in',
  signUp: '/sign-up',
  verifyEmail: '/verify-email',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  linkIdentity: '/link-identity',
  invitation: '/invitation',
  device: '/device',

  guides: '/guides',
  guide: '/guides/:name',

  start: '/start',
  keys: '/keys',
  projects: '/projects',
  activity: '/activity',
  entry: '/activity/:requestId',
  batches: '/batches',
  topUp: '/topup',
  order: '/orders/:id',
  models: '/models',
  playground: '/playground',
  connect: '/connect',
  notices: '/notices',
  members: '/members',
  security: '/security',
  settings: '/settings',

  operator: '/operator',
  operatorAccounts: '/operator/accounts',
  operatorAccount: '/operator/accounts/:id',
  operatorRequest: '/operator/accounts/:id/requests/:requestId',
  operatorCatalog: '/operator/catalog',
  operatorModel: '/operator/catalog/:modelId',
  operatorVendors: '/operator/vendors',
  operatorService: '/operator/service',
  operatorUpstreams: '/operator/upstreams',
  operatorPlans: '/operator/plans',
  operatorCodes: '/operator/codes',
  operatorOrders: '/operator/orders',
  operatorTransfers: '/operator/transfers',
  operatorRevenue: '/operator/revenue',
  operatorUptime: '/operator/uptime',
  operatorAudit: '/operator/audit',
  operatorBooks: '/operator/books',
  operatorBills: '/operator/bills',
  operatorSeller: '/operator/seller',
  operatorNotices: '/operator/notices',
  operatorTeam: '/operator/team',
} as const;

/** The address of a page with its parameter filled in. */
export function pathTo(page: string, values: Record<string, string>): string {
  return page.replaceAll(/:(\w+)/g, (_match, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** The sign-in page, with the page to return to. */
export function signInFor(next: string): string {
  return `${pages.signIn}?next=${encodeURIComponent(next)}`;
}

/** Whether a sign-in is asked for as the proof that an account elsewhere may be linked. */
export function isLinking(search: string): boolean {
  return new URLSearchParams(search).has('link');
}

/** The page after a sign-in: always one of this site, whatever a link contains (open redirect). */
export function nextPage(search: string, home: string = pages.home): string {
  const next = new URLSearchParams(search).get('next') ?? home;
  return /^\/(?![/\\])/.test(next) ? next : home;
}
