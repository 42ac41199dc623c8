import secrets from 'k6/secrets';
export async function setup() { return { token: await secrets.get('token') }; }
export default function (data) { console.log(data.token, data.token.length, data.token === 'abc' + '123'); }
export async function teardown(data) { console.log((await secrets.get('token')) === data.token); }
