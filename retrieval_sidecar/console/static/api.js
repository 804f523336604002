/* Speaks to the management API with the session of this browser. */

import { t } from "./words.js";

const BASE = "/api/v1";
const PATIENCE_MS = 65_000;

/* Set by session.js: what a change has to show, and how to get either anew. */
const hooks = { token: () => null, renew: async () => false, signedOut: async () => false };

export function useSession(given) {
  Object.assign(hooks, given);
}

/** What an operation answered that it could not be done, or that there was no answer. */
export class Problem extends Error {
  /**
   * @param {number} status 0 without an answer.
   * @param {string} code of the contract, or "network".
   * @param {string} detail the sidecar's sentence, in English.
   * @param {Array<{field: string, message: string}>} errors
   */
  constructor(status, code, detail = "", errors = []) {
    super(detail || code);
    Object.assign(this, { status, code, detail, errors });
  }
}

/** A sentence for a person: what happened, and what to do. */
export function explain(error) {
  if (!(error instanceof Problem)) throw error;
  const known = ["network", "unavailable", "deadline_exceeded", "internal_error", "not_found", "forbidden", "unauthorized",
    "too_many_requests", "precondition_failed"];
  if (known.includes(error.code)) return t(`problem.${error.code}`);
  const fields = error.errors.map((each) => `${each.field}: ${each.message}`).join("; ");
  return t("problem.told", { detail: fields || error.detail });
}

/**
 * Ask for an operation.
 * @returns {Promise<{body: any, etag: string|null}>}
 * @throws {Problem}
 */
export async function request(method, path, { body, query, headers = {}, signal, key } = {}) {
  const sent = { method, path, body, query, headers, signal, key };
  let response = await once(sent);
  /* Signed out elsewhere, or by time: sign in again and do it; or in another tab, which has another token. */
  if (response.status === 401 && key === undefined && (await hooks.signedOut())) response = await once(sent);
  if (response.status === 403 && method !== "GET" && (await hooks.renew())) response = await once(sent);
  return answered(response);
}

export const get = async (path, query, signal) => (await request("GET", path, { query, signal })).body;

/** The headers of a change, for requests that are not made here, such as uploads that tell how far they are. */
export const changing = () => (hooks.token() ? { "X-CSRF-Token": hooks.token() } : {});

export const address = (path, query = {}) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given).toString();
  return BASE + path + (text ? `?${text}` : "");
};

/** A list, a page at a time: each call gives the next one; one that failed can be asked for again. */
export function pager(path, query = {}, signal) {
  let cursor;
  return async () => {
    const page = await get(path, { ...query, cursor }, signal);
    cursor = page.next_cursor;
    return { items: page.items, more: cursor !== undefined };
  };
}

async function once({ method, path, body, query, headers, signal, key }) {
  const sent = { Accept: "application/json", ...headers };
  if (key !== undefined) sent["X-API-Key"] = key;
  else if (method !== "GET") Object.assign(sent, changing());
  if (body !== undefined) sent["Content-Type"] = "application/json";
  const limits = [AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])];
  try {
    return await fetch(address(path, query), {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.any(limits),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error; // the page was left: nobody waits
    throw new Problem(0, "network");
  }
}

async function answered(response) {
  let body = null;
  try {
    const text = await response.text();
    body = text && /json/.test(response.headers.get("Content-Type") ?? "") ? JSON.parse(text) : text;
  } catch {
    throw new Problem(0, "network");
  }
  if (response.ok) return { body, etag: response.headers.get("ETag") };
  /* A proxy's own error page says nothing that can be shown. */
  const code = body?.code ?? (response.status === 503 || response.status === 502 || response.status === 504 ? "unavailable" : "internal_error");
  throw new Problem(response.status, code, body?.detail, body?.errors);
}
