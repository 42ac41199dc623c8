import secrets from 'k6/secrets';
export default async function () {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    try { const value = await secrets.get(name); console.log(name, value.length); } catch (e) { console.log(name, 'threw'); }
  }
}
