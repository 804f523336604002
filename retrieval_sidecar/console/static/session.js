/* Who is signed in. */

import { Problem, request, useSession } from "./api.js";

let current = null;
let askAgain = async () => false;

/** The organization, the key's name and permissions; null when nobody is signed in. */
export const session = () => current;
export const may = (permission) => current?.permissions.includes(permission) ?? false;

/** @param {function(): Promise<boolean>} asked when a session has ended in the middle; whether somebody signed in again. */
export function onSessionEnd(asked) {
  askAgain = asked;
}

/** Whether this browser is signed in already. */
export async function load() {
  try {
    current = (await request("GET", "/session", {})).body;
  } catch (error) {
    if (!(error instanceof Problem) || ![401, 429].includes(error.status)) throw error;
    current = null;
  }
  return current !== null;
}

/** @throws {Problem} */
export async function signIn(key) {
  current = (await request("POST", "/session", { key })).body;
}

export async function signOut() {
  try {
    await request("DELETE", "/session", {});
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
  }
  current = null;
}

useSession({
  token: () => current?.csrf_token ?? null,
  async signedOut() {
    /* Before anybody has signed in there is nothing to go on with. */
    return current !== null && askAgain();
  },
  async renew() {
    const before = current?.csrf_token;
    return (await load()) && current.csrf_token !== before;
  },
});
