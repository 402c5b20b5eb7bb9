import { ConfigurationError } from '@steyg/sdk';
import { type Connection, type ConnectRequest, connect } from '@steyg/sdk/connect';

/** A tool whose settings are a person's only has none for a project: there is nothing to choose then. */
export function connectionOf(request: ConnectRequest): { connection: Connection; forProjects: boolean } {
  try {
    const forProject = connect({ ...request, scope: 'project' });
    return { connection: request.scope === 'project' ? forProject : connect(request), forProjects: true };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { connection: connect({ ...request, scope: 'user' }), forProjects: false };
  }
}
