/** The page for trying operations out (GraphiQL), which begins with operations that integrators need first. */

/** It inlines everything that it needs, and is loaded with its first request. */
export async function graphiqlPage(): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return renderGraphiQL({ endpoint: '/graphql', defaultQuery: firstQueries });
}

export const firstQueries = `# Choose one of these operations beside the play button. They run as you: sign in to the dashboard in this
# browser first, or send "authorization: Bearer tk-steyg-…" as a header. No account is named: it is your oldest one.

query WhoAmI {
  me {
    user { name email language }
    scopes
    accounts { id name status }
  }
}

query Models {
  models {
    modelId
    displayName
    contextWindow
    prices { input output }
  }
}

query Budget {
  account {
    budget { granted charged held free grants { kind free expiresAt } }
  }
}

query Keys {
  account {
    keys(first: 10) {
      totalCount
      edges { node { id name prefix last4 status spend { today lifetime } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}

query LastRequests {
  account {
    ledger(first: 10) {
      edges { node { requestId createdAt model outcome charged usage { input output } receipt { tokenPool tokens amount } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}

query SpentByDay {
  account {
    usage(period: DAY, by: [MODEL], first: 30) {
      nodes { start model requests charged }
      pageInfo { hasNextPage endCursor }
    }
  }
}

mutation NewKey {
  createKey(input: { name: "from GraphiQL", limits: { day: "1" } }) {
    ... on NewApiKey { secret key { id name } }
    ... on InputError { problems { path message } }
    ... on Error { code message }
  }
}

subscription RequestsAsTheyFinish {
  ledgerAppended { requestId model outcome charged }
}
`;
