"""Word lists of the analyzer: class words, family words, question words, stop words, everyday code-shaped words."""

from __future__ import annotations

HARD_CLASS_WORDS = (
    "错误码", "错误代码", "错误编号", "错误编码", "错误号", "报错码", "报错代码", "报错编号", "报错", "型号", "配置项", "系统变量",
    "error", "error code", "error number", "error no", "error id", "errcode", "err code", "errno", "err", "code", "sqlcode", "sqlstate", "sku",
    "config item", "configuration item", "system variable",
)  # fmt: skip
"""Beside them a code is meant; a question hangs on an unknown one. The owner's class words are such words too."""

NAMING_CLASS_WORDS = (
    "故障码", "故障代码", "异常码", "返回码", "告警码", "告警代码", "报警码", "报警代码", "料号", "物料号", "物料编码", "货号", "商品编号", "商品编码",
    "产品编号", "产品编码", "产品代码", "产品型号", "零件号", "部件号", "配置参数", "系统参数", "环境变量", "选项名", "参数名", "变量名",
    "fault code", "exit code", "return code", "part number", "part no", "p/n", "model number", "model no",
)  # fmt: skip
"""Beside them a code is meant; digits beside them are one."""

NUMBERING_CLASS_WORDS = (
    "错误", "故障", "异常", "告警", "报警", "代码", "状态码", "编号", "编码", "条码", "款号", "参数", "机型", "http", "http status", "status code", "status",
    "exception", "fault", "alarm", "parameter",
)  # fmt: skip
"""Digits beside them are a code if the documents have it."""

OTHER_CLASS_WORDS = (
    "变量", "选项", "配置", "字段", "命令", "函数", "接口", "规格", "产品", "版本", "标准", "文号", "公告", "warning", "model", "part",
    "variable", "option", "setting", "version", "item",
)  # fmt: skip
"""They say what a code is, no more."""

FAMILY_WORDS = ("系列", "全系列", "全系", "家族", "全家", "开头的", "开头", "series", "family")

QUESTION_WORDS = frozenset(
    """什么 甚么 啥 怎么 怎么办 怎样 怎么样 怎 咋 咋办 如何 为什么 为啥 为何 何 哪 哪个 哪些 哪里 哪儿 哪种 哪款 哪项 哪条 哪几 哪几种 哪几个
    多少 几 多久 多长 多大 多高 多远 多快 多 几个 几种 几天 几次 几时 何时 何处 谁 谁的 是否 能否 可否 会否 有无 有没有 能不能 可不可以 是不是 会不会
    要不要 行不行 好不好 对不对 该不该 需不需要 用不用 支不支持 吗 呢 吧 啊 呀 么 嘛 嘞 哦 喔 请问 问 问一下 请教 求助 求 想问 想知道 告诉 一下 麻烦 帮忙 帮
    what whats how why when where which who whom whose whether is are was were do does did can could should would will may
    please tell me show explain""".split()
)

ASKING_WORDS = frozenset(
    """意思 含义 涵义 意义 含意 处理 解决 解决办法 解决方案 解决方法 处理方法 处理办法 办法 方法 方案 应对 办 办理 修复 排查 排除 处置 搞定 搞 弄 修 原因 缘由 说明 介绍
    解释 讲解 内容 详情 详细 详细信息 信息 资料 情况 情形 问题 回事 怎么回事 代表 表示 指 说 讲 讲什么 规定 查 查询 查看 看 看看 了解 知道 搜 搜索 查找 找 出现 遇到 碰到 遇 碰
    提示 显示 返回 收到 报 弹出 弹 触发 发生 产生 给出 抛出 报出 提醒 谢谢 谢 急 在线等 这 这个 那 那个 它 此 该 相关 关于 对于 有关 具体 应该 应当 需要 可以 能 会 要 想 到底 究竟
    的话 时候 时 后 之后 以后 为 作用 用处 用途 干嘛 干什么 做什么 是什么 用 设置 mean means meaning fix solve resolve handle about
    help get got cause causes reason meant solution details detail info information describe description definition""".split()
)
"""Words that ask about a code without saying anything more: ``E1042 是什么意思，怎么处理``."""

STOP_WORDS = frozenset(
    """的 了 是 在 有 和 与 及 或 或者 以及 就 都 而 也 还 着 过 把 被 让 给 对 从 向 往 到 于 以 由 其 之 所 等 等等 我 你 您 他 她 它 我们 你们 您们 他们 它们
    咱们 自己 本 这 那 这个 那个 这些 那些 这里 那里 这样 那样 这种 那种 此 该 个 一个 一 一些 某 某个 每 各 各个 很 太 更 最 又 再 才 只 仅 便 则 即 且 并 并且 但 但是 如果 若 因为
    所以 因此 虽然 然而 可是 不过 然后 还是 以 为 为了 关于 对于 根据 按 按照 通过 经过 当 时 时候 后 之后 前 中 里 上 下 内 外 间 请 要 会 能 可 可以 可能 应 应该 应当 需要 需 想 得 地 去 来 做 用
    进行 一下 已 已经 正在 刚 曾 没 没有 不 无 非 们 些 吧 吗 呢 啊 呀 嘛 哦 么 儿 被 将 呗 啦 它 像 如 比如 例如 似的 一样 跟 同 比 使 使得 令 叫 那么 这么 什么样 地方 东西 事 事情 的话
    a an the of to in on at by for with from as and or but not no nor be been being am is are was were it its this that these those there
    here i you he she we they them his her our your their my me us him do does did done have has had will would can could should may
    might must shall if then than so such into over under about after before between during through up down out off only own same too very
    just also any some each few more most other all both once again further while because until against""".split()
)
"""Words without weight in coverage."""

EVERYDAY = (
    r"[2-6]g\+?|[1-9]d|[248]k|mp[34]|[bcop]2[bcop]|k8s|i18n|l10n|a11y|e2e|f2f|x86|x64|x86[-_]64|amd64|arm(?:v)?\d{1,2}|win(?:dows)?[-_]?\d{1,4}|utf[-_]?(?:8|16|32)"
    r"|utf8mb[34]|ascii|gbk|gb[-_]?(?:2312|18030)|latin1|iso[-_]?8859(?:[-_]?\d+)?|cp\d{3,4}|md5|sha[-_]?\d{1,3}|aes[-_]?\d{3}|rsa[-_]?\d{4}|base64|crc\d{2}|u?int\d{1,3}|float\d{1,2}|bf16|fp\d{1,2}"
    r"|ipv[46]|http[s/]?[123](?:\.\d)?|oauth2?|tls1?|web[23](?:\.0)?|es[5-9]|html5|css3|vue\d|python\d?|java\d{0,2}|jdk\d{0,2}|php\d|go1|log4j2?|mysql\d?|c\+\+(?:\d\d)?|g\+\+|c#|f#|notepad\+\+|usb[-_]?[a-c\d]"
    r"|type[-_]?[abc]|wi[-_]?fi\d?|e[-_]?mail|covid[-_]?19|gpt[-_]?\d\w?|co2|h2o|pm2\.?5|n95|v\d{1,2}|t\+\d|7x24|24x7|ec2|o2o|2fa|mfa|h\.?26[45]"
    r"|ms[-_]?dos|x[-_]?ray|cd[-_]?rom|q&a|r&d|a/b|i/o|n/a|tcp/ip|ci/cd|and/or|24/7|pl/sql|oracle\d{1,2}[cgi]|neo4j|s/4hana|id3|ext[234]|btrfs|hdfs\d?|hive\d|spark\d|flink\d|redis\d"
)
"""Ordinary words that only look like codes (one alternation, lower case); codes only where a document defines them."""

INSTANCE_WORDS = (
    "订单号", "订单编号", "单号", "运单号", "快递单号", "流水号", "交易号", "手机号", "手机", "电话", "热线", "账号", "帐号", "卡号", "身份证", "身份证号", "qq",
    "微信", "工单号", "发票号", "合同号", "邮编", "税号", "信用代码", "优惠码", "优惠券", "兑换码", "验证码", "邀请码", "激活码", "提取码", "序列号", "学号", "工号", "车牌",
    "tel", "phone", "fax", "传真", "端口", "port", "order number", "order no", "order", "tracking number", "serial number", "s/n", "imei", "promo code",
    "coupon code", "coupon", "verification code",
)  # fmt: skip
"""Before them numbers belong to the asker or the address, not to the documents' codes."""

UNITS = (
    "km2|m2|cm2|mm2|m3|cm3|mm3|kj|j|cal|kcal|mil|am|pm|kg|mg|μg|g|t|km|m|cm|mm|um|μm|nm|dm|ml|μl|l|kb|ki|mi|gi|ti|mb|gb|tb|pb|eb|kib|mib|gib|tib|kbps|mbps|gbps|bps|fps|dpi|ppi|px|pt|em|rem|pcs|hz|khz|mhz|ghz|"
    "v|kv|mv|a|ma|ka|ah|mah|wh|kwh|w|kw|mw|va|kva|var|db|dbm|dba|pa|kpa|mpa|bar|psi|nf|pf|uf|μf|mh|uh|ohm|k|c|f|s|ms|us|μs|ns|sec|min|mins|h|hr|hrs|hour|hours|"
    "d|day|days|week|weeks|month|months|year|years|yr|yrs|x|p|i|u|bit|bits|byte|bytes|rpm|lm|lux|nit|nits|mol|mmol|ppm|qps|tps|iops|usd|rmb|cny|eur|st|nd|rd|th|w\\+|k\\+|inch|ft|oz|lb|lbs|gal|mp|core|cores|cpu|vcpu|"
    "person|people|times|rows|row|pages|page|items|files"
)
"""Units that may be glued to a number (lower case)."""

COUNTERS = "次个條条天年月日分秒元块塊角米克吨台件位名人种類类份章页行列倍度层期级步周小岁届本家套颗粒只支张把双对组批箱包瓶杯片段款项组万亿千百%％‰"
"""Han characters after a number that make it a quantity."""

COMPOUND_ENDINGS = frozenset(
    """based linked related associated dependent independent specific induced mediated driven positive negative deficient compatible certified enabled
    like type style level only ready free rich bound signed encoded coded wide class grade style sized shaped terminal dimensional style old fold""".split()
)
"""Last parts of English compounds: what comes before them is no code of its own (``ISO-certified``)."""

STANDARD_BODIES = (
    "GB GBJ GBZ GJB HG JB YY QB DL SY NY HJ JGJ CJJ CJ JC YD SJ GA TB MT LY SN WS JT JTG JJG JJF CNS ISO IEC IEEE ANSI ASTM DIN EN BS JIS UL SAE ASME API RFC "
    "ETSI NIST FIPS EIA JEDEC IPC IATF CECS"
).split()
"""Bodies whose standards are cited as a name and a number (``GB/T 19001-2016``)."""

MIXED_WORDS = (
    "T恤衫",
    "T恤",
    "A股",
    "B股",
    "H股",
    "A型",
    "B型",
    "O型",
    "AB型",
    "B超",
    "AA制",
    "U盘",
    "C盘",
    "D盘",
    "E盘",
    "K线",
    "K歌",
    "Q币",
    "Q版",
    "QQ群",
    "QQ号",
    "IC卡",
    "IP卡",
    "SIM卡",
    "IP地址",
    "IP电话",
    "MAC地址",
    "C语言",
    "PC机",
    "CT机",
    "X光",
    "X射线",
    "PH值",
    "卡拉OK",
    "VIP卡",
    "APP端",
    "A轮",
    "B轮",
    "4S店",
    "3D打印",
    "N次",
    "阿Q",
)
"""Words of letters and Han characters that stay whole."""
