'use strict'
{
  const all = (what, within = document) => [...within.querySelectorAll(what)]
  const make = (name, set = {}) => Object.assign(document.createElement(name), set)

  // ---- numbers: four digits and a prefix, as the program writes them
  const prefixes = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'u'], [1e-9, 'n']]
  const plain = (value, digits = 4) =>
    value.toLocaleString('en-US', Math.abs(value) >= 100 ? {maximumFractionDigits: 0} : {maximumSignificantDigits: digits})
  const show = (value, unit) => {
    if (!Number.isFinite(value)) return '-'
    if (!['s', 'B', 'J', 'W', 'B/s', 'FLOP', 'FLOP/s'].includes(unit)) return plain(value) + (unit ? ' ' + unit : '')
    const size = Math.abs(value)
    let [factor, prefix] = prefixes.find(([least]) => size >= least) || [1, '']
    if (unit === 's' && factor > 1) [factor, prefix] = [1, '']
    return plain(+(value / factor).toPrecision(4)) + ' ' + prefix + unit
  }

  // ---- tables: a name stays on one line, a sentence gets a wide column
  all('td.l').forEach((cell) => {
    const n = cell.textContent.length
    if (n > 30) cell.classList.add('w')
    else if (n <= 24) cell.classList.add('n')
  })

  // ---- tables: a head sorts, words filter
  all('table.s').forEach((table) => {
    const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells]
    if (rows.length < 2) return
    const find = make('input', {type: 'search', placeholder: 'filter ' + rows.length + ' rows'})
    find.oninput = () => {
      const words = find.value.toLowerCase().split(' ')
      rows.forEach((row) => {
        const text = row.textContent.toLowerCase()
        row.hidden = !words.every((word) => text.includes(word))
      })
    }
    table.parentNode.before(find)
    if (table.querySelector('.m')) {
      const more = make('button', {textContent: 'all columns'})
      more.onclick = () => table.classList.toggle('a')
      table.parentNode.before(more)
    }
    const value = (row, i) => (row.cells[i].dataset.v === undefined ? row.cells[i].textContent : +row.cells[i].dataset.v)
    heads.forEach((head, i) => {
      const sort = () => {
        const way = head.dataset.way === 'up' ? -1 : 1
        heads.forEach((other) => { delete other.dataset.way; other.removeAttribute('aria-sort') })
        head.dataset.way = way === 1 ? 'up' : 'down'
        head.setAttribute('aria-sort', way === 1 ? 'ascending' : 'descending')
        rows.sort((p, q) => {
          const a = value(p, i), b = value(q, i)
          return way * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en'))
        })
        body.append(...rows)
      }
      head.tabIndex = 0
      head.onclick = sort
      head.onkeydown = (event) => { if (event.key === 'Enter') sort() }
    })
  })

  // ---- live figures, where Chart.js is on the page
  const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#777777', '#b8a800', '#7a5195', '#00a6a6']
  const shapes = ['circle', 'triangle', 'rect', 'rectRot', 'crossRot', 'star']
  // A long plan on several lines of at most so many letters; a number stays with its word.
  const wrap = (text, most = 48) => text.split(/ (?!\d)/).reduce((lines, word) => {
    const last = lines[lines.length - 1]
    if ((last + ' ' + word).length > most) lines.push(word)
    else lines[lines.length - 1] = last ? last + ' ' + word : word
    return lines
  }, [''])
  // Names of plans without the pieces that all of them have.
  const apart = (names) => {
    const pieces = names.map((name) => name.split(', '))
    const shared = (piece) => names.length > 1 && pieces.every((other) => other.includes(piece))
    return pieces.map((own) => own.filter((piece, i) => i === 0 || !shared(piece)).join(', '))
  }
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text)

  // A line across the figure: the memory of the device.
  const line = {
    id: 'line',
    afterDatasetsDraw(chart, _, {at, name, axis}) {
      if (!Number.isFinite(at)) return
      const {ctx, chartArea: box} = chart, place = chart.scales[axis].getPixelForValue(at)
      ctx.save()
      ctx.strokeStyle = ctx.fillStyle = '#d00000'
      ctx.setLineDash([6, 4])
      ctx.beginPath()
      if (axis === 'y') { ctx.moveTo(box.left, place); ctx.lineTo(box.right, place) }
      else { ctx.moveTo(place, box.top); ctx.lineTo(place, box.bottom) }
      ctx.stroke()
      ctx.font = '12px system-ui,sans-serif'
      ctx.textAlign = 'right'
      const text = name + ' ' + show(at, 'B'), wide = ctx.measureText(text).width + 6
      const [x, y] = axis === 'y' ? [box.right - 4, place - 7] : [Math.min(place + wide / 2, box.right), box.top - 4]
      ctx.fillStyle = getComputedStyle(document.body).backgroundColor
      ctx.fillRect(x - wide + 3, y - 11, wide, 14)
      ctx.fillStyle = '#d00000'
      ctx.fillText(text, x, y)
      ctx.restore()
    }
  }

  const draw = (figure, config, height) => {
    const box = make('div', {className: 'canvas'}), canvas = make('canvas', {role: 'img'})
    const style = getComputedStyle(document.body)
    canvas.setAttribute('aria-label', config.options.plugins.title.text)
    if (height) box.style.height = height + 'px'
    box.append(canvas)
    figure.prepend(box)
    figure.classList.add('drawn')
    if (figure.querySelector('img')) figure.classList.add('both')
    Chart.defaults.color = style.color
    Chart.defaults.borderColor = style.getPropertyValue('--line')
    Chart.defaults.font.family = 'system-ui,sans-serif'
    return new Chart(canvas, config)
  }
  const common = (title, tooltip, at) => ({
    responsive: true, maintainAspectRatio: false, animation: false,
    plugins: {title: {display: true, text: title, font: {size: 14}}, legend: {position: 'bottom', labels: {usePointStyle: true, boxHeight: 7}}, tooltip, line: at}
  })
  const ends = (values) => [Math.min(...values), Math.max(...values)]
  // Plans of which one takes many times as long as another: on a linear axis it presses them into a corner.
  const spread = (values) => { const [least, most] = ends(values); return least > 0 && most > 20 * least }
  // A logarithmic axis ends beside the data: by itself it reaches to the next power of ten.  A linear one of positive
  // values does not begin below 0.
  const limits = (log, values, grace) => {
    const [least, most] = ends(values)
    if (log) return {min: least / 1.3, max: most * 1.3}
    return least >= 0 && least < 0.3 * most ? {grace, min: 0} : {grace}
  }
  const axis = ({name, unit, log}, most, values, grace) => ({
    type: log ? 'logarithmic' : 'linear', title: {display: true, text: name}, suggestedMax: most,
    ...limits(log, most ? [...values, most] : values, grace),
    ticks: {callback(value, i, ticks) {
      if (log && !/^[125](\.0*)?e/.test(Number(value).toExponential(2))) return ''
      return show(value, unit)
    }, maxRotation: 0, autoSkip: true, autoSkipPadding: 12}
  })

  // Points: [x, y, colour, what hover shows].
  const points = (figure, spec) => {
    const groups = [...new Set(spec.points.map((p) => p[2]))].sort()
    const colour = (group, i) => (spec.colours && spec.colours[group]) || colours[i % colours.length]
    const datasets = groups.map((group, i) => ({
      label: short(group || 'all', 40), pointStyle: shapes[i % shapes.length], pointHoverRadius: 9,
      showLine: spec.joined, pointRadius: ({raw}) => (raw && raw.best ? 8 : spec.joined ? 3 : 5), borderWidth: ({raw}) => (raw && raw.best ? 3 : 1),
      backgroundColor: colour(group, i) + 'bb', borderColor: colour(group, i),
      data: spec.points.filter((p) => p[2] === group).map((p) => ({x: p[0], y: p[1], text: p[3], best: spec.best && p === spec.points[0]}))
    }))
    if (spec.diagonal) {
      const values = spec.points.flatMap((p) => [p[0], p[1]])
      datasets.push({label: 'predicted = measured', type: 'line', pointRadius: 0, pointHitRadius: 0, pointStyle: 'line', borderDash: [5, 5],
        borderColor: '#888888', backgroundColor: '#888888', data: ends(values).map((v) => ({x: v, y: v, text: ''}))})
    }
    const options = common(spec.title, {callbacks: {
      title: (items) => items.flatMap((item) => wrap((item.raw.best ? 'best: ' : '') + (item.raw.text || item.dataset.label))).slice(0, 12),
      label: (item) => [spec.x.name + ' ' + show(item.raw.x, spec.x.unit), spec.y.name + ' ' + show(item.raw.y, spec.y.unit)]
    }}, {at: spec.line, name: spec.line_name, axis: 'y'})
    options.plugins.legend.display = groups.length > 1 || groups[0] !== ''
    const scale = (own, k, most) => {
      const values = spec.points.map((p) => p[k])
      return axis({...own, log: own.log || (spec.best && spread(values))}, most, values, '5%')
    }
    options.scales = {x: scale(spec.x, 0), y: scale(spec.y, 1, spec.line && spec.line * 1.05)}
    return draw(figure, {type: 'scatter', data: {datasets}, options, plugins: [line]})
  }

  // Parts: a bar for each plan, stacked.
  const bars = (figure, spec) => {
    const colour = (i) => (spec.colours && spec.colours[i]) || colours[i % colours.length]
    const datasets = spec.parts.map(([name, ...data], i) => ({label: name, data, backgroundColor: colour(i), pointStyle: 'rect'}))
    const wide = figure.clientWidth > 700, names = apart(spec.bars)
    const lines = names.map((name) => (wide ? wrap(name, 44) : [short(name, 12)]))
    const step = 20 + 14 * Math.max(...lines.map((own) => own.length))
    const numbered = (own, i) => own.map((text, k) => (spec.bars.length > 1 && k === 0 ? i + 1 + '  ' : '') + text)
    const sum = (i) => spec.parts.reduce((total, part) => total + (part[i + 1] || 0), 0)
    const options = common(spec.title, {callbacks: {
      title: (items) => wrap(spec.bars[items[0].dataIndex]),
      label: (item) => item.dataset.label + ' ' + show(item.raw, spec.unit) + ', ' + (100 * item.raw / sum(item.dataIndex)).toFixed(1) + ' %'
    }}, {at: spec.line, name: spec.line_name, axis: 'x'})
    options.indexAxis = 'y'
    options.scales = {
      x: {stacked: true, suggestedMax: spec.line && spec.line * 1.05, ticks: {callback: (value) => show(value, spec.unit), maxRotation: 0, autoSkipPadding: 12}},
      y: {stacked: true, ticks: {autoSkip: false, callback: (i) => numbered(lines[i], i)}}
    }
    return draw(figure, {type: 'bar', data: {labels: spec.bars.map((_, i) => i), datasets}, options, plugins: [line]}, 130 + step * spec.bars.length)
  }

  if (window.Chart)
    all('figure[data-chart]').forEach((figure) => {
      const spec = JSON.parse(figure.dataset.chart)
      ;(spec.points ? points : bars)(figure, spec)
    })

  // ---- days, money and CO2: computed again as the sliders move
  all('.costs').forEach((costs) => {
    const plans = JSON.parse(costs.dataset.plans), goodput = +costs.dataset.goodput, money = costs.dataset.currency
    const sliders = Object.fromEntries(all('input[type=range]', costs).map((input) => [input.name, input]))
    const rows = all('tbody tr', costs)
    // Untouched sliders stand for the exact value that the command had.
    const value = (name) => {
      const input = sliders[name]
      if (!input.dataset.moved) return +input.dataset.v
      return name === 'amount' ? 10 ** input.value : +input.value
    }
    const cost = ([name, step, energy, ranks, amount, dearer, dirtier]) => {
      const steps = Math.ceil(value('amount') / amount * (1 - 1e-12)), time = steps * step / goodput
      const kWh = energy === null ? NaN : steps * energy / goodput / 3.6e6, hours = ranks * time / 3600
      const price = hours * value('price') * dearer + (value('energy') ? kWh * value('energy') : 0)
      return {name, days: time / 86400, hours, price, kWh, carbon: kWh * value('carbon') * dirtier / 1000}
    }
    const amount = (n) => {
      const [factor, letter] = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1, '']].find(([least]) => n >= least * (1 - 1e-9))
      return plain(+(n / factor).toPrecision(4)) + letter
    }
    const put = (cell, number, digits) => {
      cell.textContent = Number.isFinite(number) ? number.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits}) : '-'
      cell.dataset.v = number || 0
    }
    let chart = null
    if (window.Chart && plans.length > 1) {
      const figure = make('figure')
      costs.append(figure)
      chart = points(figure, {title: 'Days and money of the whole training', x: {name: 'days', unit: 'days'}, y: {name: money, unit: money},
        points: plans.map(cost).map((c) => [c.days, c.price, '', c.name])})
    }
    const update = () => {
      Object.entries(sliders).forEach(([name, input]) => {
        input.parentNode.querySelector('output').textContent =
          name === 'amount' ? amount(value(name)) : plain(value(name), 3)
      })
      const found = plans.map(cost)
      rows.forEach((row, i) => {
        const c = found[i]
        ;[[c.days, 1], [c.hours, 0], [c.price, 0], [c.kWh, 0], [c.carbon, 1]].forEach(([number, digits], k) => put(row.cells[k + 1], number, digits))
      })
      if (chart) {
        chart.data.datasets[0].data = found.map((c) => ({x: c.days, y: c.price, text: c.name}))
        chart.update('none')
      }
    }
    Object.values(sliders).forEach((input) => {
      input.oninput = () => { input.dataset.moved = 'yes'; update() }
    })
  })

  // ---- print: figures take the width of the paper
  const resize = () => { if (window.Chart) Object.values(Chart.instances).forEach((chart) => chart.resize()) }
  window.addEventListener('beforeprint', resize)
  window.addEventListener('afterprint', resize)
}
