"""Networks, with nothing federated inside."""
