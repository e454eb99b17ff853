/** The credential in an `Authorization` header (RFC 6750); null where there is none of that form. */
export const bearerOf = (header: string | undefined): string | null =>
  /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1] ?? null;
