export default function () { console.log('ran'); console.error('failed'); }
