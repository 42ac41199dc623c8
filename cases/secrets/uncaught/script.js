import secrets from 'k6/secrets';
export default async function () { await secrets.get('a'); }
