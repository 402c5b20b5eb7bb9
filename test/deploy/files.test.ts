/** The deployment files agree with the server: its variables, paths, ports, times and users. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../server/runtime/config.ts';
import { lastOf, readDockerfile, type Stage, variablesOf } from './dockerfile.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const deploy = (path: string): string => read(`server/deploy/${path}`);

/** The variables that the server reads. */
const variables = new Set([...read('.env.example').matchAll(/^#([A-Z_]+)=/gm)].map(([, name = '']) => name));
const isVariable = (name: string): boolean => variables.has(name.replace(/_FILE$/, ''));
/** What a process needs at its end: its running requests, and what follows them. */
const endingS = loadConfig({}).drainMs / 1000 + 20;
const stages = readDockerfile(deploy('Dockerfile'));
const image = stages.at(-1) as Stage;
const nodeMajor = /\d+/.exec((JSON.parse(read('package.json')) as { engines: { node: string } }).engines.node)?.[0];

describe('the Dockerfile', () => {
  it('builds with the Node that the package asks for, and runs with it', () => {
    expect(stages.map((stage) => /node(?:js)?:?(\d+)/.exec(stage.image)?.[1])).toEqual(stages.map(() => nodeMajor));
  });

  it('ends in a stage that runs nothing at its build, as a numbered user that is not root', () => {
    expect(image.image).toMatch(/^gcr\.io\/distroless\/.*:nonroot$/);
    expect(image.instructions.filter(({ name }) => name === 'RUN')).toEqual([]);
    expect(lastOf(image, 'USER').rest).toBe('65532:65532');
    const copied = image.instructions.filter(({ name }) => name === 'COPY');
    expect(copied.map(({ options }) => stages.some(({ name }) => name === options['from']))).toEqual(
      copied.map(() => true),
    );
  });

  it('starts and checks files that exist, with variables that the server reads', () => {
    const [main = ''] = JSON.parse(lastOf(image, 'CMD').rest) as string[];
    const [, check = ''] = JSON.parse(lastOf(image, 'HEALTHCHECK').rest.replace(/^CMD /, '')) as string[];
    expect([main, check].filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(Object.keys(variablesOf(image)).filter((name) => !isVariable(name))).toEqual([]);
    expect(lastOf(image, 'EXPOSE').rest).toBe(variablesOf(image)['PORT']);
  });

  it('gets nothing that git ignores', () => {
    const ignored = read('.gitignore').trim().split('\n');
    const left = deploy('Dockerfile.dockerignore').split('\n');
    const spelt = (line: string): string => line.replace(/^\*\*\//, '').replace(/\/$/, '');
    const needless = ['*.tgz', '.vitest'];
    expect(ignored.map(spelt).filter((line) => !needless.includes(line) && !left.map(spelt).includes(line))).toEqual(
      [],
    );
    expect(left).toContain('.git');
  });
});

interface ComposeService {
  image: string;
  environment: Record<string, string>;
  secrets: string[];
  volumes: string[];
  stop_grace_period?: string;
}

describe('compose.yaml', () => {
  const file = parse(deploy('compose.yaml')) as {
    services: Record<string, ComposeService>;
    secrets: Record<string, { file: string }>;
    volumes: Record<string, null>;
  };
  const { steyg, postgres, backup } = file.services as Record<'steyg' | 'postgres' | 'backup', ComposeService>;

  it('gives the server only variables that it reads, and secrets as files', () => {
    expect(Object.keys(steyg.environment).filter((name) => !isVariable(name))).toEqual([]);
    const named = Object.values(file.services).flatMap(({ environment, secrets }) =>
      Object.entries(environment)
        .filter(([name]) => name.endsWith('_FILE'))
        .map(([, path]) => [path, secrets.map((secret) => `/run/secrets/${secret}`).includes(path)]),
    );
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter(([, isMounted]) => !isMounted)).toEqual([]);
    expect(JSON.stringify(file.services)).not.toMatch(/"(SECRET_KEY|DATABASE_URL|METRICS_TOKEN|POSTGRES_PASSWORD)":/);
  });

  it('declares each volume and secret that it uses', () => {
    const services = Object.values(file.services);
    const used = services.flatMap(({ volumes }) => volumes.map((each) => each.split(':')[0] ?? ''));
    expect(used.filter((name) => !name.startsWith('.') && !(name in file.volumes))).toEqual([]);
    expect(services.flatMap(({ secrets }) => secrets).filter((name) => !(name in file.secrets))).toEqual([]);
  });

  it('leaves the server the time that it needs to end', () => {
    expect(Number.parseInt(steyg.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(endingS);
  });

  it('dumps with the version of PostgreSQL that it runs', () => {
    expect(backup.image).toBe(postgres.image);
    expect(steyg.volumes).toContain(`data:${variablesOf(image)['DATA_DIR']}`);
  });
});

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  failureThreshold: number;
}

interface PodSpec {
  terminationGracePeriodSeconds: number;
  securityContext: { runAsNonRoot: boolean; runAsUser: number };
  containers: {
    image: string;
    args?: string[];
    ports: { containerPort: number; name: string }[];
    startupProbe: Probe;
    readinessProbe: Probe;
    livenessProbe: Probe;
    lifecycle: { preStop: { sleep: { seconds: number } } };
    securityContext: object;
    volumeMounts: { name: string; mountPath: string }[];
  }[];
  volumes: { name: string; secret?: { secretName: string } }[];
}

interface VolumeClaim {
  metadata: { name: string };
  spec: { accessModes: string[]; resources: { requests: { storage: string } } };
}

interface Manifest {
  kind: string;
  metadata: { name: string; namespace: string };
  data?: Record<string, string>;
  spec: {
    template: { metadata?: { labels: object }; spec: PodSpec };
    selector: { matchLabels: object };
    maxUnavailable: number;
    replicas: number;
    serviceName?: string;
    clusterIP?: string;
    volumeClaimTemplates?: VolumeClaim[];
  };
}

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(deploy('kubernetes.yaml'));
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const of = (kind: string): Manifest => {
    const found = manifests.find((each) => each.kind === kind);
    if (found === undefined) throw new Error(`no ${kind}`);
    return found;
  };
  const pods = [of('StatefulSet'), of('Job')].map(({ spec }) => spec.template.spec);
  const [server] = of('StatefulSet').spec.template.spec.containers;
  const claims = of('StatefulSet').spec.volumeClaimTemplates ?? [];

  it('is YAML without faults, in one namespace', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['steyg']));
  });

  it('asks for what the server answers', () => {
    const health = read('server/app/health.ts');
    for (const probe of [server?.startupProbe, server?.readinessProbe, server?.livenessProbe]) {
      expect(health).toContain(`'${probe?.httpGet.path}'`);
      expect(probe?.httpGet.port).toBe(server?.ports[0]?.name);
    }
    expect(server?.readinessProbe.httpGet.path).toBe('/readyz');
    expect(String(server?.ports[0]?.containerPort)).toBe(variablesOf(image)['PORT']);
  });

  it('leaves the server the time that it needs to end, after the endpoint is gone', () => {
    const [pod] = pods;
    const needed = endingS + (server?.lifecycle.preStop.sleep.seconds ?? Number.NaN);
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
    const goneAfterS = (server?.readinessProbe.periodSeconds ?? 0) * (server?.readinessProbe.failureThreshold ?? 0);
    expect(server?.lifecycle.preStop.sleep.seconds).toBeGreaterThan(goneAfterS);
  });

  it('runs as a user without rights, and mounts what it names', () => {
    for (const [index, { securityContext, containers, volumes }] of pods.entries()) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 });
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const claimed = index === 0 ? claims.map(({ metadata }) => metadata.name) : [];
        const named = [...volumes.map(({ name }) => name), ...claimed];
        expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(named.sort());
      }
    }
  });

  it('keeps the spool of a pod that is deleted, for the next pod of its name', () => {
    const data = server?.volumeMounts.find(({ mountPath }) => mountPath === variablesOf(image)['DATA_DIR']);
    const claim = claims.find(({ metadata }) => metadata.name === data?.name);
    expect(claim?.spec.accessModes).toEqual(['ReadWriteOnce']);
    expect(pods[0]?.volumes.map(({ name }) => name)).not.toContain(data?.name);
  });

  it('has secrets as files only, and variables that the server reads', () => {
    const settings = of('ConfigMap').data ?? {};
    expect(Object.keys(settings).filter((name) => !isVariable(name))).toEqual([]);
    const mounted = server?.volumeMounts.find(({ name }) => name === 'secrets')?.mountPath;
    const files = Object.entries(settings).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([name]) => name)).toEqual(['SECRET_KEY_FILE', 'DATABASE_URL_FILE', 'METRICS_TOKEN_FILE']);
    expect(files.filter(([, path]) => !path.startsWith(`${mounted}/`))).toEqual([]);
  });

  it('migrates with a command that exists, in the version that it serves', () => {
    const [job] = of('Job').spec.template.spec.containers;
    expect(job?.image).toBe(server?.image);
    const { stdout } = spawnSync(process.execPath, [...(job?.args ?? []), '--help'], { cwd: root, encoding: 'utf8' });
    expect(stdout).toContain('-- migrate ');
  });

  it('keeps the service up while nodes are drained', () => {
    const labels = of('StatefulSet').spec.template.metadata?.labels;
    expect(of('StatefulSet').spec.selector.matchLabels).toEqual(labels);
    expect(of('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
    const services = manifests.filter(({ kind }) => kind === 'Service');
    expect(services.map(({ spec }) => spec.selector)).toEqual([labels, labels]);
    expect(services.filter(({ spec }) => spec.clusterIP === 'None').map(({ metadata }) => metadata.name)).toEqual([
      of('StatefulSet').spec.serviceName,
    ]);
    expect(of('PodDisruptionBudget').spec.maxUnavailable).toBeLessThan(of('StatefulSet').spec.replicas);
  });
});

describe('files with secrets', () => {
  const isIgnored = (path: string): boolean =>
    spawnSync('git', ['check-ignore', '--quiet', '--no-index', path], { cwd: root }).status === 0;
  const { secrets } = parse(deploy('compose.yaml')) as { secrets: Record<string, { file: string }> };
  const toKubernetes = [...deploy('kubernetes.yaml').matchAll(/--from-file=(\S+)/g)].map(([, file = '']) => file);
  const told = [
    ...Object.values(secrets).map(({ file }) => `server/deploy/${file}`),
    ...toKubernetes.map((file) => `server/deploy/${file}`),
    ...[...read('server/CONFIGURATION.md').matchAll(/--env-file=(\S+)/g)].map(([, file = '']) => file),
    `${loadConfig({}).dataDir}/secret_key`,
  ];

  it('are never added by git where the instructions put them', () => {
    expect(told).toEqual(expect.arrayContaining(['.env', 'server/deploy/secrets/database_url']));
    expect(toKubernetes).toHaveLength(3);
    expect(told.filter((path) => !isIgnored(path))).toEqual([]);
  });

  it('are not what the repository has', () => {
    expect(['.env.example', 'server/deploy/systemd/steyg.env', 'package.json'].filter(isIgnored)).toEqual([]);
  });
});

describe('the units of systemd', () => {
  const unit = deploy('systemd/steyg.service');

  it('leave the server the time that it needs to end', () => {
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(endingS);
  });

  it('archive the ledger by a command and with variables that there are', () => {
    const service = deploy('systemd/steyg-archive.service');
    expect(/^ExecStart=(.*)$/m.exec(service)?.[1]).toBe(
      '/opt/steyg/node_modules/.bin/node server/admin.ts ledger archive',
    );
    expect(/^EnvironmentFile=(.*)$/m.exec(service)?.[1]).toBe(/^EnvironmentFile=(.*)$/m.exec(unit)?.[1]);
    expect(
      [...service.matchAll(/\b[A-Z]+_[A-Z_]+\b/g)].map(([name]) => name).filter((name) => !isVariable(name)),
    ).toEqual([]);
  });

  it('are set up by variables that the server reads', () => {
    const names = [...deploy('systemd/steyg.env').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !isVariable(name))).toEqual([]);
  });
});

describe('backup.sh', () => {
  /** A machine on which the programs of PostgreSQL behave as told. */
  function backup(dump: string): { status: number | null; files: string[] } {
    const directory = mkdtempSync(join(tmpdir(), 'steyg-backup-'));
    const old = join(directory, 'steyg-20200101T000000Z.dump');
    writeFileSync(old, '');
    utimesSync(old, 0, 0);
    const bin = mkdtempSync(join(tmpdir(), 'steyg-bin-'));
    writeFileSync(join(bin, 'pg_dump'), `#!/bin/sh\n${dump}\n`, { mode: 0o755 });
    writeFileSync(join(bin, 'pg_restore'), '#!/bin/sh\ngrep -q whole "$2"\n', { mode: 0o755 });
    const { status } = spawnSync('sh', [join(root, 'server/deploy/backup.sh')], {
      env: { PATH: `${bin}:/usr/bin:/bin`, BACKUP_DIR: directory, KEEP_DAYS: '14' },
    });
    const files = readdirSync(directory).map((name) => (name.includes('2020') ? 'old' : name.replace(/.*\./, '')));
    for (const path of [directory, bin]) rmSync(path, { recursive: true });
    return { status, files: files.sort() };
  }
  // `--file=NAME` is its last argument.
  const into = 'for name; do :; done; name=${name#--file=}';

  it('keeps a dump that can be read, and drops old ones', () => {
    expect(backup(`${into}; echo whole > "$name"`)).toEqual({ status: 0, files: ['dump'] });
  });

  it('keeps old dumps and leaves no half of one when the database breaks off, or when the dump cannot be read', () => {
    expect(backup(`${into}; echo half > "$name"; exit 1`)).toEqual({ status: 1, files: ['old'] });
    expect(backup(`${into}; echo half > "$name"`)).toEqual({ status: 1, files: ['old'] });
  });
});
