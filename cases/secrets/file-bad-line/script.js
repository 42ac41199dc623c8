import secrets from 'k6/secrets';
export default async function () { console.log((await secrets.get('first')).length); }
