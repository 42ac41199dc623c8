export default async function () { await null; throw new Error('from async'); }
