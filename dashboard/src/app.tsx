import { type ComponentType, Fragment, lazy, type ReactNode, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { Boundary } from './components/boundary.tsx';
import { KeptPage } from './components/kept-page.tsx';
import { FailureNotice, LoadingSkeleton } from './components/states.tsx';
import { OperatorLanguageProvider } from './language/language.tsx';
import { NoAccount, NotFound } from './pages/nothing.tsx';
import { isLinking, nextPage, pages, signInFor } from './pages.ts';
import { SessionProvider, useMaybeSession, useSession, useViewer } from './session.tsx';
import { PublicFrame, Shell, useShop } from './shell.tsx';
import { useSignInMethods } from './sign-in-methods.ts';

/** The routes of the pages. Each page is loaded on its first visit. */

const Landing = lazy(() => import('./pages/landing.tsx'));
const VerifyEmail = lazy(() => import('./pages/verify-email.tsx'));
const ResetPassword = lazy(() => import('./pages/reset-password.tsx'));
const SignIn = lazy(() => import('./pages/sign-in.tsx'));
const LinkIdentity = lazy(() => import('./pages/link-identity.tsx'));
const Guides = lazy(() => import('./pages/guides.tsx'));
const SignInAgain = lazy(() => import('./components/sign-in-again.tsx'));
const Invitation = lazy(() => import('./pages/invitation.tsx'));

/** For people without a session. */
const publicPages: readonly (readonly [string, ComponentType])[] = [
  [pages.home, Landing],
  [pages.signIn, SignIn],
  [pages.signUp, lazy(() => import('./pages/sign-up.tsx'))],
  [pages.verifyEmail, VerifyEmail],
  [pages.forgotPassword, lazy(() => import('./pages/forgot-password.tsx'))],
  [pages.resetPassword, ResetPassword],
  [pages.linkIdentity, LinkIdentity],
  [pages.guides, Guides],
  [pages.guide, Guides],
];

/** Of no use where people sign in with providers alone: the first sign-in is the sign-up. */
const passwordPages = [pages.signUp, pages.forgotPassword, pages.resetPassword];

/** About an account. */
const accountPages: readonly (readonly [string, ComponentType])[] = [
  [pages.home, lazy(() => import('./pages/overview.tsx'))],
  [pages.start, lazy(() => import('./pages/start.tsx'))],
  [pages.keys, lazy(() => import('./pages/keys.tsx'))],
  [pages.activity, lazy(() => import('./pages/activity.tsx'))],
  [pages.entry, lazy(() => import('./pages/entry.tsx'))],
  [pages.batches, lazy(() => import('./pages/batches.tsx'))],
  [pages.topUp, lazy(() => import('./pages/top-up.tsx'))],
  [pages.order, lazy(() => import('./pages/order.tsx'))],
  [pages.playground, lazy(() => import('./pages/playground.tsx'))],
  [pages.connect, lazy(() => import('./pages/connect.tsx'))],
  [pages.notices, lazy(() => import('./pages/notices.tsx'))],
  [pages.projects, lazy(() => import('./pages/projects.tsx'))],
  [pages.members, lazy(() => import('./pages/members.tsx'))],
  [pages.device, lazy(() => import('./pages/device.tsx'))],
];

/** Pages about the person, signed in or not. */
const personPages: readonly (readonly [string, ComponentType])[] = [
  [pages.models, lazy(() => import('./pages/models.tsx'))],
  [pages.security, lazy(() => import('./pages/security.tsx'))],
  [pages.settings, lazy(() => import('./pages/settings.tsx'))],
  [pages.verifyEmail, VerifyEmail],
  [pages.resetPassword, ResetPassword],
  [pages.linkIdentity, LinkIdentity],
  [pages.invitation, Invitation],
  [pages.guides, Guides],
  [pages.guide, Guides],
];

const operatorPages: readonly (readonly [string, ComponentType])[] = [
  [pages.operator, lazy(() => import('./pages/operator/home.tsx'))],
  [pages.operatorAccounts, lazy(() => import('./pages/operator/accounts.tsx'))],
  [pages.operatorAccount, lazy(() => import('./pages/operator/account.tsx'))],
  [pages.operatorRequest, lazy(() => import('./pages/operator/request.tsx'))],
  [pages.operatorCatalog, lazy(() => import('./pages/operator/catalog.tsx'))],
  [pages.operatorModel, lazy(() => import('./pages/operator/model.tsx'))],
  [pages.operatorService, lazy(() => import('./pages/operator/service.tsx'))],
  [pages.operatorVendors, lazy(() => import('./pages/operator/vendors.tsx'))],
  [pages.operatorUpstreams, lazy(() => import('./pages/operator/upstreams.tsx'))],
  [pages.operatorPlans, lazy(() => import('./pages/operator/plans.tsx'))],
  [pages.operatorCodes, lazy(() => import('./pages/operator/codes.tsx'))],
  [pages.operatorOrders, lazy(() => import('./pages/operator/orders.tsx'))],
  [pages.operatorTransfers, lazy(() => import('./pages/operator/transfers.tsx'))],
  [pages.operatorRevenue, lazy(() => import('./pages/operator/revenue.tsx'))],
  [pages.operatorUptime, lazy(() => import('./pages/operator/uptime.tsx'))],
  [pages.operatorAudit, lazy(() => import('./pages/operator/audit.tsx'))],
  [pages.operatorNotices, lazy(() => import('./pages/operator/notices.tsx'))],
  [pages.operatorTeam, lazy(() => import('./pages/operator/team.tsx'))],
  [pages.operatorSeller, lazy(() => import('./pages/operator/seller.tsx'))],
  [pages.operatorBills, lazy(() => import('./pages/operator/bills.tsx'))],
  [pages.operatorBooks, lazy(() => import('./pages/operator/books.tsx'))],
];

export function App() {
  const viewer = useViewer();
  // At once, not when a banner wants to know: it would move the page.
  const shop = useShop();
  // Once: the frame of a failure asks again automatically, and must not be taken away for that.
  if (viewer.isPending || (shop.isLoading && shop.errorUpdateCount === 0)) return <Waiting />;
  if (viewer.data === undefined) {
    return (
      <PublicFrame>
        <FailureNotice error={viewer.error} retry={() => void viewer.refetch()} />
      </PublicFrame>
    );
  }
  const user = viewer.data?.user ?? null;
  if (viewer.data === null || user === null) return <ForNobody />;
  // In a look at a customer, the operator's own pages are closed.
  const person = { ...user, operator: user.operator && viewer.data.viewUntil === null };
  return (
    // Another person starts with a fresh state, also in the middle of a form.
    <SessionProvider key={person.id} viewer={viewer.data} person={person}>
      <KeptPage over={viewer.data.over === true} page={ForPerson} />
      {viewer.data.over === true ? (
        <Boundary>
          <Suspense fallback={null}>
            <SignInAgain />
          </Suspense>
        </Boundary>
      ) : null}
    </SessionProvider>
  );
}

function Waiting() {
  return (
    <main className="waiting">
      <LoadingSkeleton height="60vh" />
    </main>
  );
}

/**
 * A page has its own state for each address and account: a form for one order or account must not be kept for the
 * next.
 */
function Loading({
  page: PageOf,
  around: Around = Fragment,
}: {
  page: ComponentType;
  around?: ComponentType<{ children: ReactNode }> | typeof Fragment;
}) {
  const [path] = useLocation();
  const account = useMaybeSession()?.account;
  return (
    <Boundary key={`${account?.id ?? ''} ${path}`}>
      <Suspense fallback={<LoadingSkeleton lines={8} />}>
        <Around>
          <PageOf />
        </Around>
      </Suspense>
    </Boundary>
  );
}

const routes = (list: readonly (readonly [string, ComponentType])[]) =>
  list.map(([path, page]) => (
    <Route key={path} path={path}>
      <Loading page={page} />
    </Route>
  ));

function ForNobody() {
  const [path] = useLocation();
  const search = globalThis.location.search;
  const { passwords } = useSignInMethods();
  const known = [...accountPages, ...personPages, ...operatorPages].map(([page]) => page);
  return (
    <PublicFrame>
      <Switch>
        {passwords
          ? null
          : passwordPages.map((page) => (
              <Route key={page} path={page}>
                <Redirect to={pages.signIn} replace />
              </Route>
            ))}
        {routes(publicPages)}
        {known.map((page) => (
          <Route key={page} path={page}>
            <Redirect to={signInFor(`${path}${search}`)} replace />
          </Route>
        ))}
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </PublicFrame>
  );
}

function ForPerson() {
  const { account, person } = useSession();
  return (
    <Shell>
      <Switch>
        {account === null
          ? accountPages.map(([path]) => (
              <Route key={path} path={path}>
                <NoAccount />
              </Route>
            ))
          : routes(accountPages)}
        {routes(personPages)}
        {person.operator
          ? operatorPages.map(([path, page]) => (
              <Route key={path} path={path}>
                <Loading page={page} around={OperatorLanguageProvider} />
              </Route>
            ))
          : null}
        <Route path={pages.signIn}>
          {isLinking(globalThis.location.search) ? (
            // A session does not prove that its person wants the link.
            <Loading page={SignIn} />
          ) : (
            <Redirect
              to={nextPage(globalThis.location.search, person.operator ? pages.operator : pages.home)}
              replace
            />
          )}
        </Route>
        <Route path={pages.signUp}>
          <Redirect to={pages.start} replace />
        </Route>
        <Route path={pages.forgotPassword}>
          <Redirect to={pages.home} replace />
        </Route>
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Shell>
  );
}
