import secrets from 'k6/secrets';
export default async function () {
  console.log((await secrets.get('one')).length, (await secrets.source('disk').get('one')).length);
}
