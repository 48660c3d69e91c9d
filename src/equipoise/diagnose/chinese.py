"""Findings in Chinese: for every rule what it says, the cause and the remedy, as in its file."""

from __future__ import annotations

from collections.abc import Mapping

Says = str | Mapping[str, str]
CHINESE: Mapping[str, tuple[Says, str, str]] = {
    "lambda-runaway": (
        "{who}的 λ 从 {first:.3g} 升到 {last:.3g}（{when}）",
        "学习得到的 λ 没有上限：L_a 越接近零，对齐项的权重就越大",
        "给 λ 设上下界，或让原型从锚点出发并保持单位长度",
    ),
    "schedule-fights-learner": (
        "{who}的 λ 在调度下降时升高了 {rise:.3g} 倍，λ·s 始终在 ±{band:.0%} 之内（{when}）",
        "σ 看到的是已经退火的损失，其不动点是 λ = c/s，调度因此不起作用",
        "让 σ 看到退火之前的损失，或把调度放到对数项上",
    ),
    "over-alignment": (
        {
            "local": "{who}的 λ·L_a 是 L_b 的 {share:.2f} 倍，客户端自身的准确率比 {than} 低 {lost:.1f} 个百分点",
            "probe": "{who}的 λ·L_a 是 L_b 的 {share:.2f} 倍，探针准确率比 {than} 低 {lost:.1f} 个百分点",
        },
        "对齐的拉力超过了本地任务，特征服务于锚点而不是类别",
        "降低 λ，或让 σ 的学习率为网络的百分之一",
    ),
    "lr-cut": (
        {
            "known": "{who}的基础损失被乘以 {scale:.3g}（{when}）",
            "coupled": "如果损失是耦合的，{who}的基础损失被乘以 {scale:.3g}（{when}）",
        },
        "1/(2σ²) 乘在整个损失前面，σ 大就等于学习率变小，σ 小就等于学习率变大",
        "解耦：σ 只决定 λ，基础损失保持原样",
    ),
    "sigma-unstable": (
        "{who}的 λ 在 {share:.0%} 的检查点上反复掉头（{when}）",
        "σ 的步长和网络一样大，越过不动点后又折返",
        "给 σ 单独的学习率，取网络的百分之一",
    ),
    "cap-inactive": (
        {
            "cap": "上界 λmax = {lam_max:.3g} 约束不住：按最初的损失 λ 会到 {cap:.3g}",
            "idle": "上界 λmax = {lam_max:.3g} 从未起作用，{other} 的数字完全相同",
        },
        "惩罚太弱，或者从未触发，λ 走到了没有它时也会到的地方",
        "增大 γ，或者截断 λ 而不是惩罚它",
    ),
    "bound-exceeded": (
        "{who}的 λ 达到 {lam:.3g}，超过声明的 λmax = {lam_max:.3g}（{when}）",
        "这个上界是把 λ 拉回来的惩罚，不是一堵墙",
        "每一步之后截断 λ",
    ),
    "ensemble-collapse": (
        {
            "plain": "合并后的准确率下降 {lost:.1f} 个百分点，只剩 {now:.1%}，而客户端自身变化 {local:+.1f}（{when}）",
            "norms": "合并后的准确率下降 {lost:.1f} 个百分点，只剩 {now:.1%}，而客户端自身变化 {local:+.1f}（{when}）；"
            "各客户端原型的长度相差 {ratio:.3g} 倍",
        },
        "被平均的东西在客户端之间不再一致；原型长度相差大时，最长的客户端替所有人说话",
        "按单位长度或按样本数合并原型，并让原型从锚点出发",
    ),
    "merge-below-client": (
        {
            "client": "合并后 {merged:.1%}，最好的单个客户端 {other:.1%}，探针 {probe:.1%}",
            "ensemble": "合并后 {merged:.1%}，客户端的集成 {other:.1%}，探针 {probe:.1%}",
        },
        "客户端学到的比这种合并方式能用上的更多",
        "在同一批客户端上换一种服务器，而不是换策略：`equipoise fuse RUN --predict energy-gate`",
    ),
    "peak-then-collapse": (
        "{what} 最后是 {now:.1%}，比 {when} 的最好水平低 {lost:.1f} 个百分点",
        "训练在不再有益之后还在继续",
        "验证集不再提高时就停止；下降的原因见其他结论",
    ),
    "noop-schedule": (
        "{who}的 {what} 在每个检查点都是 {value:.4g}（{when}）",
        "进度是在某个很快就结束的范围里计数的，例如只有一个 epoch 的一轮",
        "按整个运行计算进度",
    ),
    "wasted-stage": (
        "第二阶段开始时准确率是 {accuracy:.1%}（{when}），随机水平是 {chance:.1%}",
        "第一阶段在没有任务的情况下训练特征，学到的东西对第二阶段没有用",
        "两项一起训练，让对齐项的权重逐渐减小",
    ),
    "forgetting-signal": (
        "{who}的 L_a 在第一阶段从 {start:.3g} 降到 {best:.3g}，又回到 {back:.3g}（{when}）",
        "第二阶段不再要求第一阶段教过的东西",
        "在第二阶段保留该项，降低其权重",
    ),
    "gradient-conflict": (
        "{who}的基础损失与对齐损失的梯度余弦为 {cosine:.2f}（{when}）",
        "对齐原型的方向抵消了本地任务学到的东西",
        "降低 λ，或把一个梯度投影到另一个的法平面上",
    ),
    "dead-term": (
        {
            "gradient": "{who}的 {term} 项梯度恰好为 0（{when}）",
            "value": "{who}的 {term} 项始终是 {value:.4g}（{when}）",
            "zero": "{who}的 {term} 项始终是 0（{when}）",
            "weight": "权重 {weight} 被训练、被上传，却没有任何损失依赖它（{when}）",
        },
        "损失与被训练的权重没有接上，或者某一项没有可比较的对象",
        "接上它，或者去掉它",
    ),
    "starved-branch": (
        {
            "still": "分支 {branch} 的梯度是主干的 {grad:.2g}，移动距离是主干的 {move:.2g}（{when}）",
            "silent": "分支 {branch} 只占输出的 {share:.1%}（{when}）",
        },
        "分支前面的小门控同时缩小了它的输出和回传的梯度；或者分支从零开始，至今学到的很少",
        "去掉门控，让分支的最后一层从零开始；若已如此，就训练更久",
    ),
    "router-collapse": (
        {
            "one": "专家 {expert} 占了 {weight:.0%} 的权重（{when}）",
            "uniform": "专家 {expert} 对每个物品的权重都一样，±{deviation:.2g}（{when}）",
        },
        "路由器没有选择的依据，或者很早就因一种选择得到奖励而再没试过别的",
        "把用户状态交给路由器，并加一个逐渐减小的熵项",
    ),
    "temperature-inversion": (
        "{n} 个客户端上，惊讶度与样本拉力的相关系数为 {correlation:+.2f}（{when}）",
        "温度随惊讶度升高，令人惊讶的样本损失反而变小",
        "固定 τ，逐样本加权",
    ),
    "weights-inert": (
        "样本权重全都一样：{name} 为 {value:.4g}（{when}）",
        "权重乘在了平均值上，或者惊讶度在样本之间几乎没有差别",
        "在取平均之前把每个样本的损失乘以它的权重",
    ),
    "surprise-saturated": (
        "95 % 的惊讶度落在宽度 {band:.3f} 之内（{when}）",
        "损失没有居中和缩放就被压缩，每个样本看起来同样令人惊讶",
        "在 sigmoid 之前按客户端标准化损失",
    ),
    "contrastive-at-chance": (
        "对比损失是 {loss:.3f}，而 ln B 是 {chance:.3f}（{when}）",
        "同一物品的两个视图彼此并不比与其他物品更接近",
        "检查特征是否属于这些物品，并降低 τ",
    ),
    "features-missing": (
        "{name} 特征是 {control}：同一用户的提升 {lift:+.4f}，打乱后 {shuffled:+.4f}",
        "行与物品不对应，或者行里是噪声：从中学不到任何东西",
        "按编号给出这些物品的特征表",
    ),
    "interest-drift": (
        "{who}：兴趣发生了变化（{when}）",
        "用户现在的选择不像该用户以前的选择",
        "加大令人惊讶的样本的权重，少记过去的东西",
    ),
    "memory-leak": (
        "要预测的物品有 {positive:.1%} 在记忆里，其他物品 {negative:.1%}；测试时 {test:.1%}",
        "记忆是用整个历史填充的，连未来也在内",
        "按预测目标之前的状态读取记忆",
    ),
    "memory-inert": (
        {
            "effect": "记忆使得分改变 {effect:.2g}（{when}）",
            "rate": "历史中有 {rate:.1%} 被写入记忆（{when}）",
        },
        "阈值把一切都放进来或者什么都不放，或者没有人读取写下的内容",
        "设置阈值，使历史的十分之一到一半被记住",
    ),
    "chance-level": (
        "{name} 是 {value:.2%} ± {error:.2%}，随机水平是 {chance:.2%}",
        "什么也没有学到，或者学到的东西在通往合并模型的路上丢失了",
        "看其他结论；如果没有，就训练更久或检查标签",
    ),
    "too-good": (
        "{name} 是 {value:.1%}",
        "并列算作目标命中，目标在输入里，或者见过的物品没有同样地屏蔽",
        "并列取中间名次，并在历史和记忆里查找目标",
    ),
    "non-finite": (
        {
            "event": "{who}被停止：{what}（{when}）",
            "number": "{who}的 {name} 是 {value}（{when}）",
        },
        "在那一点上步长对损失来说太大了",
        "降低学习率或裁剪梯度；客户端最后的良好状态已保留",
    ),
    "empty-client": (
        {
            "steps": "{who}一步也没有训练",
            "batch": "{who}有 {samples:.0f} 个样本，少于一个批次 {batch:.0f}，而最后一个批次被丢弃",
        },
        "客户端没有数据，或者少于一个批次而不完整的批次被丢弃",
        "要求划分器给出最小样本数，并保留最后一个批次",
    ),
    "partition-overlap": (
        {
            "share": "{overlap:.1%} 的样本同时属于多个客户端",
            "total": "客户端共持有 {owned:.0f} 个样本，而总数是 {samples:.0f}",
        },
        "划分器逐个客户端抽取，却没有去掉已经抽走的样本",
        "使用每个样本只给一个客户端的划分器",
    ),
    "partition-not-as-asked": (
        {
            "labels": "类别在客户端之间的集中度为 {seen:.3f}，Dirichlet {alpha:g} 给出它的概率是 p = {p:.1g}",
            "accuracy": "客户端在自己的图像上 {own:.1%}，在所有人的图像上 {all:.1%}，而要求的 α 是 {alpha:g}",
        },
        "实际使用的划分不是所要求的划分，例如用了缓存",
        "缓存的键要包含划分所依赖的一切，或者重新抽取",
    ),
    "etf-infeasible": (
        "{classes:.0f} 个类别在 {width:.0f} 维里，至少需要 {least:.0f} 维",
        "有 C 个顶点的单纯形需要 C − 1 维",
        "加宽特征，或者投影",
    ),
    "transform-mismatch": (
        "训练输入的均值为 {train:.3f} ± {spread:.3f}，评估输入为 {eval:.3f} ± {other:.3f}",
        "训练和评估的归一化不同",
        "在同一个地方为两者归一化",
    ),
    "batchnorm-not-merged": (
        {
            "same": "合并后的缓冲区就是{who}的缓冲区（{when}）",
            "gain": "重新校准缓冲区提高了 {gain:.1f} 个百分点（{when}）",
        },
        "滑动均值和方差不是权重，只合并参数会漏掉它们",
        "也对它们取平均，或者用几个批次重新校准",
    ),
    "stale-evaluation": (
        "{n} 个指标在 {times} 次评估中一位数字都没有变，而客户端移动了 {moved:.3g}（{when}）",
        "把更早一次评估的指标又写了一遍",
        "每次评估记录在自己的轮次之下",
    ),
    "frozen-drift": (
        "{who}声明为冻结的张量发生了变化（{when}）",
        "交给优化器的多于声明的参数组，或者衰减和缓冲区移动了没有梯度的东西",
        "只把声明的参数组交给优化器",
    ),
    "hidden-broadcast": (
        "{who}开始时用的不是自己的模型（{when}）",
        "在号称一次性通信的运行中，服务器的模型在两个检查点之间被下发了",
        "称它为多轮，或者让每个客户端从自己的模型继续",
    ),
    "client-outlier": (
        {
            "norm": "{who}的更新比其他客户端长 {z:.1f} 个偏差（{when}）",
            "cosine": "{who}的更新与其他客户端方向相反，余弦 {cosine:.2f}（{when}）",
        },
        "一个客户端牵着合并走：它的数据、学习率或意图与其他客户端不同",
        "查看该客户端的数据；用稳健的合并，或者排除它",
    ),
    "class-blind": (
        "{classes} 个类别中有 {n} 个召回率为 0：{which}",
        "拥有这些类别的客户端被多数票压倒",
        "按类别并按其样本数合并原型",
    ),
    "test-selection": (
        "报告的检查点是按 {name} 选出的",
        "许多带噪声的测试数字中最大的那个，比其中任何一个的真值都大",
        "在验证集上选择，或者报告最后一个检查点",
    ),
    "slow-client": (
        "{who}用时是该轮中位数的 {times:.1f} 倍（{when}）",
        "它的数据更多或机器更慢，所有人都在等它",
        "最长的先开始，限制其步数，或设置超时",
    ),
    "inactive-knob": (
        "“{row}”与“{other}”只有 {key} 不同，{n} 个种子的结果却逐位相同",
        "在这种配置下没有任何代码读取该选项",
        "查明它是否被读取；否则这一对比较什么也说明不了",
    ),
    "confounded": (
        "“{row}”与“{first}”同时有 {n} 个选项不同：{keys}",
        "无法判断是哪个选项改变了结果",
        "一次只改一个选项，或补上中间的行",
    ),
    "noise-not-gain": (
        "“{row}”与“{first}”相差 {gain:+.2f} 个百分点，{n} 个种子的标准误差为 {error:.2f}",
        "种子之间的差异大于两种配置之间的差异",
        "增加种子，或者不下结论",
    ),
    "uncontrolled-gain": (
        {
            "none": "“{row}”比“{first}”高 {gain:.2f} 个百分点，但没有打乱特征的对照行",
            "recovers": "“{row}”比“{first}”高 {gain:.2f} 个百分点；打乱特征后仍保留其中的 {share:.0%}",
        },
        "提高可能来自额外的参数，而不是特征的内容",
        "用打乱的行以同样的轮数再运行一次",
    ),
    "unequal-budget": (
        "“{row}”训练 {passes:g} 遍（样本：{data}），“{first}”训练 {others:g} 遍（样本：{theirs}）",
        "较好的一行也许只是训练得更多",
        "让每一行的轮数、epoch 数和样本数都相同",
    ),
    "mixed-protocol": (
        "“{row}”与“{first}”不是同一协议：{what} 不同",
        "两种协议下的数字不能相减",
        "分成两张表，或统一协议",
    ),
}
