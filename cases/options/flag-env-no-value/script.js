export default function () { console.log(JSON.stringify(__ENV.GIVEN), JSON.stringify(__ENV.MISSING)); }
