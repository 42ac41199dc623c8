export default function () { console.debug('seen'); }
