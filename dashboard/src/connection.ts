import { ConfigurationError } from '@steyg/sdk';
import { type Connection, type ConnectRequest, connect } from '@steyg/sdk/connect';

/**
 * The choice of a client tool and its scope. A tool with personal settings only has no project scope, so there is
 * nothing to choose.
 */
export function connectionOf(request: ConnectRequest): { connection: Connection; forProjects: boolean } {
  try {
    const forProject = connect({ ...request, scope: 'project' });
    return { connection: request.scope === 'project' ? forProject : connect(request), forProjects: true };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { connection: connect({ ...request, scope: 'user' }), forProjects: false };
  }
}
