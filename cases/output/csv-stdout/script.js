export default function () { console.log('ran'); }
